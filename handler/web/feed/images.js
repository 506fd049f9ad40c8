// Images. Their size and colour are known before they load, so that there is no layout shift.

import { make } from '/assets/api.js';
import { headers } from '/assets/feed/reader.js';

const TALL = 4 / 5, WIDE = 16 / 9; // limits of an image's aspect ratio on a card

// here reports whether a URL is on this server: pages load nothing from elsewhere.
const here = (url) => typeof url === 'string' && url.startsWith('/') && !url.startsWith('//');

// imagesOf returns the displayable images of a post.
export const imagesOf = (doc) => (doc.images ?? []).filter((i) => here(i.url) && i.width > 0 && i.height > 0);

const THUMBNAIL = 320; // maximum px of the longer side of a thumbnail

// picture returns an image of a post; sizes is its displayed width, small means that the
// thumbnail is sufficient.
export function picture(doc, image, { small = false, sizes = '(max-width: 46rem) 100vw, 42rem' } = {}) {
  const img = make('img', {
    className: 'picture', width: image.width, height: image.height, loading: 'lazy', decoding: 'async',
    alt: image.alt || 'An image without a description',
  });
  if (/^#[0-9a-f]{3,8}$/i.test(image.color ?? '')) img.style.backgroundColor = image.color;
  const thumbnail = here(image.thumbnail) ? image.thumbnail : image.url;
  if (doc.audience?.public !== true) fetchInto(img, small ? thumbnail : image.url);
  else if (small || thumbnail === image.url) img.src = thumbnail;
  else {
    const width = Math.round(image.width * Math.min(1, THUMBNAIL / Math.max(image.width, image.height)));
    img.sizes = sizes;
    img.srcset = `${encodeURI(thumbnail)} ${width}w, ${encodeURI(image.url)} ${image.width}w`;
    img.src = image.url;
  }
  return img;
}

// fetchInto loads an image that is not public: an img element cannot send the headers that
// identify the reader.
async function fetchInto(img, url) {
  try {
    const response = await fetch(url, { headers: headers() });
    if (!response.ok) return;
    img.src = URL.createObjectURL(await response.blob());
    img.addEventListener('load', () => URL.revokeObjectURL(img.src), { once: true });
  } catch { /* its colour and its description remain */ }
}

// gallery shows a post's images on its card: a single one in its aspect ratio, several as
// squares.
export function gallery(doc, href) {
  const images = imagesOf(doc);
  if (images.length === 0) return null;
  const link = make('a', { href, className: `gallery n${Math.min(4, images.length)}` });
  for (const image of images.slice(0, 4)) link.append(picture(doc, image, images.length > 1 ? { sizes: '(max-width: 46rem) 50vw, 20rem' } : {}));
  if (images.length === 1) {
    link.firstChild.style.aspectRatio = Math.min(WIDE, Math.max(TALL, images[0].width / images[0].height));
  }
  if (images.length > 4) link.append(make('span', { className: 'rest', textContent: `+${images.length - 4}` }));
  return link;
}

// avatar returns a disc with the initials of a name, in a colour derived from the id.
export function avatar(id, name) {
  const initials = (name || id).split(/[\s._-]+/).filter(Boolean).map((w) => [...w][0]).slice(0, 2).join('').toUpperCase();
  const disc = make('span', { className: 'avatar', textContent: initials });
  disc.setAttribute('aria-hidden', 'true');
  let hue = 0;
  for (const c of id) hue = (hue * 31 + c.codePointAt(0)) % 360;
  disc.style.setProperty('--hue', hue);
  return disc;
}
