import { useRef, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { Client, Post } from '@freshet/client';

/** Publishes a draft once, however often Publish is pressed while the network fails. */
export function Composer({ client, onPost }: { client: Client; onPost: (post: Post) => void }) {
  const form = useRef<HTMLFormElement>(null);
  const draft = useRef({ caption: '', key: '' });
  const publish = useMutation({
    mutationFn: (caption: string) => {
      if (draft.current.caption !== caption) draft.current = { caption, key: `draft-${Date.now()}-${Math.random()}` };
      return client.createPost(draft.current);
    },
    onSuccess: (post) => {
      draft.current = { caption: '', key: '' };
      form.current?.reset();
      onPost(post);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    publish.mutate(String(new FormData(event.currentTarget).get('caption')));
  };
  return (
    <form ref={form} onSubmit={submit}>
      <textarea name="caption" dir="auto" aria-label="New post" required placeholder="What is new? #tags are read" />
      <button id="publish" disabled={publish.isPending}>Publish</button>
      <p role="alert">{publish.error?.message}</p>
    </form>
  );
}
