import type { paths } from './openapi.js';

/** An image to publish: JPEG, PNG, GIF or WebP, at most 5 MiB and 50 megapixels. */
export interface NewImage {
  /**
   * A `File` of an input, or a `Blob`. The server removes its metadata, such as location and
   * camera.
   */
  data: Blob;
  /** A description for readers who cannot see the image. */
  alt?: string | undefined;
}

/** A post to publish. */
export type NewPost = Omit<paths['/v1/posts']['post']['requestBody']['content']['application/json'], 'images'> & {
  /** Up to 10, in order. */
  images?: NewImage[] | undefined;
  /**
   * An idempotency key: for 24 hours the server answers it with the same post. If omitted, each
   * call uses a random one; set it to publish a draft at most once, however often it is sent.
   */
  key?: string | undefined;
};

/** A change of a post. Omitted fields are unchanged. */
export interface PostEdit {
  caption?: string | undefined;
  tags?: string[] | undefined;
  /** One text for each image. */
  alts?: string[] | undefined;
  /** Who may reply from now on. The author can only narrow it; existing replies stay. */
  reply?: NewPost['reply'];
}

/** The body of a post: JSON, or a form if it has images. */
export function postBody({ images, ...post }: Omit<NewPost, 'key'>): unknown {
  if (!images?.length) return post;
  const form = new FormData();
  form.set('post', JSON.stringify({ ...post, images: images.map(({ alt = '' }) => ({ alt })) }));
  images.forEach(({ data }, i) => form.append('image', data, String(i + 1)));
  return form;
}
