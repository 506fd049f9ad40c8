import { StrictMode, useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { Feed } from '@freshet/client';
import { List } from './list';
import { Notifications } from './notifications';
import { OwnPosts } from './own';
import { signIn, type Session } from './session';

function App() {
  const [session, setSession] = useState<Session>();
  const [failure, setFailure] = useState('');
  const [tag, setTag] = useState<{ name: string; feed: Feed }>();
  const [own, setOwn] = useState(false);
  const goHome = () => { setTag(undefined); setOwn(false); };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    signIn(name).then(setSession, (error: Error) => setFailure(error.message));
  };
  if (session) {
    return (
      <QueryClientProvider client={session.queries}>
        <p>
          {session.name} <button id="own" onClick={() => setOwn(true)}>My posts</button>{' '}
          <button id="sign-out" onClick={() => { goHome(); setSession(undefined); }}>Sign out</button>
        </p>
        <Notifications client={session.client} />
        {(own || tag) && <h2>{own ? 'My posts' : `#${tag?.name}`} <button id="home" onClick={goHome}>Home</button></h2>}
        {own ? <OwnPosts session={session} /> : <List key={tag?.name ?? ''} session={session} feed={tag?.feed ?? session.home}
          onTag={(name) => setTag({ name, feed: new Feed(session.client, { feed: `tag:${name}`, limit: 10 }) })} />}
      </QueryClientProvider>
    );
  }
  return (
    <form onSubmit={submit}>
      <label>Name <input name="name" defaultValue="u_1" required pattern="[A-Za-z0-9_]{1,64}" /></label>{' '}
      <button id="sign-in">Sign in</button>
      <p role="alert">{failure}</p>
    </form>
  );
}

createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
