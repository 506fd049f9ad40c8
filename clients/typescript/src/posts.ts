import type { paths } from './openapi.js';

/** An image to be published: JPEG, PNG, GIF or WebP, at most 5 MiB and 50 megapixels. */
export interface NewImage {
  /** A `File` of an input, or a `Blob`. The server removes where and with what it was taken. */
  data: Blob;
  /** What can be seen, for who cannot see it. */
  alt?: string | undefined;
}

/** A post to be published. */
export type NewPost = Omit<paths['/v1/posts']['post']['requestBody']['content']['application/json'], 'images'> & {
  /** Up to 10, in their order. */
  images?: NewImage[] | undefined;
  /**
   * The server answers the same post to it for 24 hours. Left out, each call takes a
   * random one: give one to publish a draft at most once, however often it is sent.
   */
  key?: string | undefined;
};

/** A change of a post. What is left out stays. */
export interface PostEdit {
  caption?: string | undefined;
  tags?: string[] | undefined;
  /** One text for each image. */
  alts?: string[] | undefined;
}

/** The body of a post: JSON, or a form where it has images. */
export function postBody({ images, ...post }: Omit<NewPost, 'key'>): unknown {
  if (!images?.length) return post;
  const form = new FormData();
  form.set('post', JSON.stringify({ ...post, images: images.map(({ alt = '' }) => ({ alt })) }));
  images.forEach(({ data }, i) => form.append('image', data, String(i + 1)));
  return form;
}
