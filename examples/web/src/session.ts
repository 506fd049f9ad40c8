import { QueryClient } from '@tanstack/react-query';
import { Client, Feed, type Me } from '@freshet/client';

/**
 * The objects of one reader's session; another reader gets a new one, so that nothing is shown
 * to the wrong reader.
 */
export interface Session {
  name: string;
  /** The reader's card. Its id is not the subject of the token if that has other characters, such as `auth0|…`. */
  me: Me;
  client: Client;
  home: Feed;
  queries: QueryClient;
}

/** The app's server returns Freshet's URL and signs a token valid for five minutes. */
async function issue(name: string): Promise<{ server: string; token: string; expires: number }> {
  const answer = await fetch('/sign-in', { method: 'POST', body: JSON.stringify({ name }) });
  if (!answer.ok) throw new Error('You could not be signed in. Try again in a moment.');
  return answer.json();
}

export async function signIn(name: string): Promise<Session> {
  let current = await issue(name);
  const token = async () => {
    if (Date.now() / 1000 > current.expires - 60) current = await issue(name);
    return current.token;
  };
  const client = new Client({ server: current.server, token });
  return { name, me: await client.me(), client, home: new Feed(client, { feed: 'home', limit: 10 }), queries: new QueryClient() };
}
