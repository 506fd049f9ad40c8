import { postBody, type NewPost, type PostEdit } from './posts.js';
import type { Call, CallOptions, Options } from './options.js';
import { stream, type News, type StreamOptions } from './stream.js';
import { Transport } from './transport.js';
import type { AgentPage, AgentProfile, EventsTaken, FeedEvent, FeedName, Followed, GuestPage, Likes, MutedList, Page, Post, PostPage, Profile, Suggestions, TilePage } from './types.js';
import { newID } from './wait.js';

/** One call of the feed. */
export interface Ask {
  /** `refresh`: the best unseen items now. `load_more`: the next page of the last refresh. */
  action: 'refresh' | 'load_more';
  /** Items of the page, 1 to 100; the server's 20 where it is left out. */
  limit?: number | undefined;
  /** With `refresh`: looks for what is new since the last one and changes nothing. */
  silent?: boolean | undefined;
  /**
   * 1 to 64 characters of `A-Z a-z 0-9 _ . @ -`. For a minute the server answers the same
   * page again to the same call. Left out, a random one is taken, so that a lost answer
   * does not cost the reader a page.
   */
  request_id?: string | undefined;
  /** Which of the reader's feeds; `for_you` where it is left out. */
  feed?: FeedName | undefined;
  /** Says of each entry in `in_feed.why` why it is there. */
  why?: boolean | undefined;
}

/** Which page of a list of posts. */
export interface PageOptions extends CallOptions {
  /** The `next_cursor` of the page before; left out: the newest. */
  cursor?: string | null | undefined;
  /** 1 to 100; the server's 20 where it is left out. */
  limit?: number | undefined;
}

/** How many events or impressions one call may bring. */
const most = 500;

/**
 * Calls one server for one reader. Each method rejects with a {@link FreshetError}, or
 * with the reason of the signal where the call was aborted. {@link Feed} is for
 * reading; {@link Client.do} makes any call that has no method here.
 */
export class Client {
  readonly #transport: Transport;

  /** Throws a TypeError where `server` is no URL and no path of a page's own server. */
  constructor(options: Options) {
    this.#transport = new Transport(options);
  }

  /**
   * Makes a call, again where that is safe, and returns the `data` of its answer. `Data`
   * is its type: `client.do<Data<'/v1/circles', 'get'>>({ method: 'GET', path: '/v1/circles', repeatable: true })`.
   */
  do<T>(call: Call, options?: CallOptions): Promise<T> {
    return this.#transport.do<T>(call, options);
  }

  /** POST /v1/feed. {@link Feed} keeps what belongs to one list. */
  feed<Own = unknown>(ask: Ask, options?: CallOptions): Promise<Page<Own>> {
    const body = ask.silent ? ask : { request_id: newID(), ...ask };
    return this.do({ method: 'POST', path: '/v1/feed', body, repeatable: true }, options);
  }

  /** GET /v1/feed/guest: what trends, the same for everybody. limit is 1 to 100, the server's 20 where it is left out. */
  guest(options: CallOptions & { limit?: number } = {}): Promise<GuestPage> {
    return this.#get(`/v1/feed/guest${query({ limit: options.limit })}`, options);
  }

  /**
   * POST /v1/impressions: the reader has seen these. Needed where the server has
   * `impressions.on: seen`, harmless elsewhere. Long lists take several calls.
   */
  async seen(ids: string[], options?: CallOptions): Promise<void> {
    for (let i = 0; i < ids.length; i += most) {
      await this.do({ method: 'POST', path: '/v1/impressions', body: { ids: ids.slice(i, i + most) }, repeatable: true }, options);
    }
  }

  /**
   * POST /v1/events: the reader has done this. Long lists take several calls; telling
   * something twice is harmless.
   */
  async events(events: FeedEvent[], options?: CallOptions): Promise<EventsTaken> {
    const all: EventsTaken = { accepted: 0, not_shown: 0 };
    for (let i = 0; i < events.length; i += most) {
      const body = { events: events.slice(i, i + most) };
      const taken = await this.do<EventsTaken>({ method: 'POST', path: '/v1/events', body, repeatable: true }, options);
      all.accepted += taken.accepted;
      all.not_shown += taken.not_shown;
    }
    return all;
  }

  /** GET /v1/timeline: everything new from whom the reader follows, newest first. */
  timeline(options: PageOptions = {}): Promise<PostPage> {
    return this.#get(`/v1/timeline${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** GET /v1/authors/{id}/posts?view=grid: the first thumbnail and the counts of each post of an author, newest first. */
  authorGrid(author: string, options: PageOptions = {}): Promise<TilePage> {
    return this.#get(`/v1/authors/${encodeURIComponent(author)}/posts${query({ view: 'grid', cursor: options.cursor, limit: options.limit })}`, options);
  }

  /**
   * GET /v1/stream: tells that the timeline has something new. It connects again by itself,
   * where it has been, until its signal is aborted or the loop over it is left; it throws
   * where the server refuses it. {@link Feed.badge} polls then.
   */
  stream(options?: StreamOptions): AsyncGenerator<News, never> {
    return stream(this.#transport, options);
  }

  /**
   * POST /v1/posts: publishes, with up to 10 images. A retry does not publish twice. The
   * kinds `unprocessable`, `too_large` and `not_an_image` say what is wrong with the post
   * or an image, `conflict` that the key was used for another post.
   */
  createPost(post: NewPost, options: CallOptions = {}): Promise<Post> {
    const { key = newID(), ...rest } = post;
    const timeout = options.timeout ?? (post.images?.length ? uploadTimeout : undefined);
    return this.do({
      method: 'POST', path: '/v1/posts', body: postBody(rest), headers: { 'Idempotency-Key': key }, repeatable: true,
    }, { ...options, ...(timeout !== undefined && { timeout }) });
  }

  /**
   * The whole URL of what the server has a path for, such as the `url` of an image of a
   * post: for an `<img>`, where everybody may see the image.
   */
  url(path: string): string {
    return path.startsWith('/') ? this.#transport.base + path : path;
  }

  /**
   * An image of a post by its `url`, called for as the reader: for images that not everybody
   * may see, which an `<img>` is refused. Show it with `URL.createObjectURL`.
   */
  image(path: string, options?: CallOptions): Promise<Blob> {
    return this.#transport.blob(path, options);
  }

  /** GET /v1/posts/{id}. `not_found` where there is none that the caller may see. */
  post(id: string, options?: CallOptions): Promise<Post> {
    return this.#get(postPath(id), options);
  }

  /**
   * GET /v1/posts/{id}/replies: flat, the newest first unless `order` says oldest. A reply is
   * published with {@link createPost} and its `reply_to`.
   */
  replies(id: string, options: PageOptions & { order?: 'newest' | 'oldest' | undefined } = {}): Promise<PostPage> {
    return this.#get(`${postPath(id)}/replies${query({ order: options.order, cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** PATCH /v1/posts/{id}: what is left out stays. Returns the post as it is now. */
  editPost(id: string, edit: PostEdit, options?: CallOptions): Promise<Post> {
    return this.do({ method: 'PATCH', path: postPath(id), body: edit, repeatable: true }, options);
  }

  /** DELETE /v1/posts/{id}. `not_found` where there is none; after a retry the try before may have deleted it. */
  async deletePost(id: string, options?: CallOptions): Promise<void> {
    await this.do({ method: 'DELETE', path: postPath(id), repeatable: true }, options);
  }

  /** PUT /v1/posts/{id}/like. */
  likePost(id: string, options?: CallOptions): Promise<Likes> {
    return this.do({ method: 'PUT', path: `${postPath(id)}/like`, repeatable: true }, options);
  }

  /** DELETE /v1/posts/{id}/like. */
  unlikePost(id: string, options?: CallOptions): Promise<Likes> {
    return this.do({ method: 'DELETE', path: `${postPath(id)}/like`, repeatable: true }, options);
  }

  /** PUT /v1/agents/{agent_id}/following/{author}. Says whether anything changed; after a retry the try before may have done it. */
  follow(agent: string, author: string, options?: CallOptions): Promise<boolean> {
    return this.#change('PUT', followPath(agent, author), options);
  }

  /** POST /v1/agents/{agent_id}/following: up to 100 authors beside those of before. Who is refused is in the answer. */
  followMany(agent: string, authors: string[], options?: CallOptions): Promise<Followed> {
    return this.do({ method: 'POST', path: `${agentPath(agent)}/following`, body: { authors }, repeatable: true }, options);
  }

  /** GET /v1/agents/{agent_id}/suggestions: up to `limit` authors whom the agent may want to follow, the best first. */
  suggestions(agent: string, options: CallOptions & { limit?: number } = {}): Promise<Suggestions> {
    return this.#get(`${agentPath(agent)}/suggestions${query({ limit: options.limit })}`, options);
  }

  /** DELETE /v1/agents/{agent_id}/following/{author}. Says whether anything changed. */
  unfollow(agent: string, author: string, options?: CallOptions): Promise<boolean> {
    return this.#change('DELETE', followPath(agent, author), options);
  }

  /** PUT /v1/agents/{agent_id}/blocked/{agent}: ends the follows of both, and neither sees the other's posts. Says whether anything changed. */
  block(agent: string, other: string, options?: CallOptions): Promise<boolean> {
    return this.#change('PUT', blockPath(agent, other), options);
  }

  /** DELETE /v1/agents/{agent_id}/blocked/{agent}. Says whether anything changed. */
  unblock(agent: string, other: string, options?: CallOptions): Promise<boolean> {
    return this.#change('DELETE', blockPath(agent, other), options);
  }

  /** GET /v1/agents/{agent_id}/blocked: a page of whom the agent blocks. `next_after` is the `after` of the next one, null for none. */
  blocked(agent: string, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${agentPath(agent)}/blocked${after && `?after=${encodeURIComponent(after)}`}`, options);
  }

  /** GET /v1/agents/{agent_id}/profile. `not_found` where the agent has none. */
  profile(agent: string, options?: CallOptions): Promise<AgentProfile> {
    return this.#get(profilePath(agent), options);
  }

  /** PUT /v1/agents/{agent_id}/profile: replaces it, and returns it as it is stored. Changed mutes end the session. */
  putProfile(agent: string, profile: Profile, options?: CallOptions): Promise<Profile> {
    return this.do({ method: 'PUT', path: profilePath(agent), body: profile, repeatable: true }, options);
  }

  /**
   * PATCH /v1/agents/{agent_id}/profile: a JSON merge patch. What it does not name stays, null removes a
   * field. Returns the profile as it is stored.
   */
  patchProfile(agent: string, patch: Record<string, unknown>, options?: CallOptions): Promise<Profile> {
    return this.do({ method: 'PATCH', path: profilePath(agent), body: patch, repeatable: true }, options);
  }

  /** PUT /v1/agents/{agent_id}/muted/…: one step, beside which those of other devices stay. Says whether anything changed. */
  mute(agent: string, list: MutedList, value: string, options?: CallOptions): Promise<boolean> {
    return this.#change('PUT', mutedPath(agent, list, value), options);
  }

  /** DELETE /v1/agents/{agent_id}/muted/…. Says whether anything changed. */
  unmute(agent: string, list: MutedList, value: string, options?: CallOptions): Promise<boolean> {
    return this.#change('DELETE', mutedPath(agent, list, value), options);
  }

  #get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.do({ method: 'GET', path, repeatable: true }, options);
  }

  async #change(method: 'PUT' | 'DELETE', path: string, options?: CallOptions): Promise<boolean> {
    const { changed } = await this.do<{ changed: boolean }>({ method, path, repeatable: true }, options);
    return changed;
  }
}

/** How long a post with images may take by default, in milliseconds. */
const uploadTimeout = 120_000;

const postPath = (id: string) => `/v1/posts/${encodeURIComponent(id)}`;
const agentPath = (id: string) => `/v1/agents/${encodeURIComponent(id)}`;
const profilePath = (agent: string) => `${agentPath(agent)}/profile`;
const blockPath = (agent: string, other: string) => `${agentPath(agent)}/blocked/${encodeURIComponent(other)}`;
const mutedPath = (agent: string, list: MutedList, value: string) => `${agentPath(agent)}/muted/${list}/${encodeURIComponent(value)}`;
const followPath = (agent: string, author: string) => `${agentPath(agent)}/following/${encodeURIComponent(author)}`;

/** The query of what is given, with its question mark. */
function query(values: Record<string, string | number | null | undefined>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) given.set(name, String(value));
  }
  const text = given.toString();
  return text && `?${text}`;
}
