// POST /v1/posts. With images it is multipart, by XMLHttpRequest: fetch does not report upload
// progress.

import { Refused } from '/assets/api.js';
import { headers } from '/assets/feed/reader.js';

// upload publishes a post, once per key. progress is called with the share sent so far, 0 to 1.
// It returns {done, stop}: a promise of the post, and a function that aborts the upload.
export function upload(post, files, key, progress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    request.onload = () => {
      const answer = parse(request);
      if (answer.code === 0) resolve(answer.data);
      else reject(new Refused(request.status, answer.code, answer.msg));
    };
    request.onerror = () => reject(new Error('The server could not be reached. Publish again: the post is published only once.'));
    request.onabort = () => reject(new Error('Stopped.'));
  });
  request.open('POST', '/v1/posts');
  const all = { ...headers(), 'Idempotency-Key': key, ...(files.length ? {} : { 'Content-Type': 'application/json' }) };
  for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
  request.send(files.length ? multipart(post, files) : JSON.stringify(post));
  return { done, stop: () => request.abort() };
}

function multipart(post, files) {
  const form = new FormData();
  form.append('post', JSON.stringify(post));
  for (const file of files) form.append('image', file, file.name);
  return form;
}

function parse(request) {
  try {
    return JSON.parse(request.responseText);
  } catch {
    return { code: -1, msg: `the server answered ${request.status}` };
  }
}
