import { bindMethods } from './bound.js';
import { postBody, type NewPost, type PostEdit } from './posts.js';
import type { CallOptions, Options } from './options.js';
import { changes, type Change, type ChangesOptions } from './changes.js';
import { stream, type News, type StreamOptions } from './stream.js';
import { LiveWatch, type LiveOptions } from './live.js';
import { agentPath, caller, query, withAgent, type ForAgent } from './paths.js';
import { People } from './people.js';
import { Transport } from './transport.js';
import type { AgentCard, AgentPage, AgentProfile, AuditPage, AuthorCard, EventsTaken, ExportState, FeedEvent, FeedName, Followed, GuestPage, Likes, ModeratedFilter, ModeratedPage, ModeratedPost, ModerationAction, MutedItemPage, MutedList, NewReport, NotificationPage, Page, Post, PostPage, Profile, RelatedPage, ReportedPage, RouteCall, Suggestions, TilePage } from './types.js';
import { newID } from './wait.js';

/** One call of the feed. */
export interface Ask {
  /** `refresh` returns the best unseen items now, `load_more` the next page of the last refresh. */
  action: 'refresh' | 'load_more';
  /** Items per page, 1 to 100; default 20, set by the server. */
  limit?: number | undefined;
  /** With `refresh`: counts what is new since the last one, without changing anything. */
  silent?: boolean | undefined;
  /**
   * 1 to 64 characters of `A-Z a-z 0-9 _ . @ -`. For a minute the server answers a repeated
   * call with the same page. If omitted, a random id is used, so that a lost answer does not
   * cost the reader a page.
   */
  request_id?: string | undefined;
  /** The reader's feed; default `for_you`. */
  feed?: FeedName | undefined;
  /** Explains each entry in `in_feed.why`. */
  why?: boolean | undefined;
}

/** Selects a page of a list of posts. */
export interface PageOptions extends CallOptions {
  /** The `next_cursor` of the previous page; omitted for the newest posts. */
  cursor?: string | null | undefined;
  /** 1 to 100; default 20, set by the server. */
  limit?: number | undefined;
}

/** The maximum number of events or impressions per call. */
const most = 500;

/**
 * Calls one server for one reader. Each method rejects with a {@link FreshetError}, or with the
 * reason of the signal if the call was aborted. Use {@link Feed} for reading; {@link Client.do}
 * makes any call that has no method here. Methods about an agent take its id first; without it they
 * are about the caller, so that an app need not know the reader's id.
 */
export class Client extends People {
  readonly #transport: Transport;

  /** Throws a TypeError if `server` is neither a URL nor a path on the page's own server. */
  constructor(options: Options) {
    const transport = new Transport(options);
    super(transport);
    this.#transport = transport;
    bindMethods(this, Client.prototype);
  }

  /**
   * Makes a call, retries it if that is safe, and returns the `data` of the answer, of type
   * `Data`: `client.do<Data<'/v1/circles', 'get'>>({ method: 'GET', path: '/v1/circles',
   * repeatable: true })`. A method and a path that are of no route do not compile.
   */
  do<T>(call: RouteCall, options?: CallOptions): Promise<T> {
    return this.#transport.do<T>(call, options);
  }

  /** POST /v1/feed. {@link Feed} adds the state of one list. */
  feed<Own = unknown>(ask: Ask, options?: CallOptions): Promise<Page<Own>> {
    const body = ask.silent ? ask : { ...ask, request_id: ask.request_id ?? newID() };
    return this.#transport.do({ method: 'POST', path: '/v1/feed', body, repeatable: true }, options);
  }

  /**
   * GET /v1/feed/guest: trending entries, the same for everyone. limit is 1 to 100; default 20,
   * set by the server.
   */
  guest(options: CallOptions & { limit?: number } = {}): Promise<GuestPage> {
    return this.#get(`/v1/feed/guest${query({ limit: options.limit })}`, options);
  }

  /**
   * GET /v1/items/{id}/related: what the readers of an item or a post have read as well, then what
   * shares a tag with it. limit is 1 to 100; default 10, set by the server.
   */
  related<Own = unknown>(id: string, options: CallOptions & { limit?: number } = {}): Promise<RelatedPage<Own>> {
    return this.#get(`/v1/items/${encodeURIComponent(id)}/related${query({ limit: options.limit })}`, options);
  }

  /**
   * POST /v1/impressions: reports what the reader has seen. Required if the server has
   * `impressions.on: seen`, harmless otherwise. Long lists are split into several calls.
   */
  async seen(ids: string[], options?: CallOptions): Promise<void> {
    for (let i = 0; i < ids.length; i += most) {
      await this.#transport.do({ method: 'POST', path: '/v1/impressions', body: { ids: ids.slice(i, i + most) }, repeatable: true }, options);
    }
  }

  /**
   * POST /v1/events: reports acts of the reader. Long lists are split into several calls;
   * reporting an act twice is harmless.
   */
  async events(events: FeedEvent[], options?: CallOptions): Promise<EventsTaken> {
    const all: EventsTaken = { accepted: 0, not_shown: 0 };
    for (let i = 0; i < events.length; i += most) {
      const body = { events: events.slice(i, i + most) };
      const taken = await this.#transport.do<EventsTaken>({ method: 'POST', path: '/v1/events', body, repeatable: true }, options);
      all.accepted += taken.accepted;
      all.not_shown += taken.not_shown;
    }
    return all;
  }

  /** GET /v1/timeline: all posts from people the reader follows, newest first. */
  timeline(options: PageOptions = {}): Promise<PostPage> {
    return this.#get(`/v1/timeline${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** GET /v1/agents/{agent_id}/likes: the posts that the reader likes and may see, the newest like first. */
  likes(options: PageOptions = {}): Promise<PostPage> {
    return this.#get(`/v1/agents/~/likes${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** GET /v1/circles/{id}/posts: the posts that the reader sees through a group, newest first. */
  circlePosts(circle: string, options: PageOptions = {}): Promise<PostPage> {
    return this.#get(`/v1/circles/${encodeURIComponent(circle)}/posts${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** GET /v1/authors/{id}/posts?view=grid: the first thumbnail and the counts of each post of an author, newest first. */
  authorGrid(author: string, options: PageOptions = {}): Promise<TilePage> {
    return this.#get(`/v1/authors/${encodeURIComponent(author)}/posts${query({ view: 'grid', cursor: options.cursor, limit: options.limit })}`, options);
  }

  /**
   * GET /v1/stream: reports new posts in the timeline. It reconnects and resumes automatically
   * until its signal is aborted or the loop over it ends; it throws if the server refuses it. Each
   * call opens a connection of its own: in a page, use {@link Client.live}, which shares one.
   */
  stream(options?: StreamOptions): AsyncGenerator<News, never> {
    return stream(this.#transport, options);
  }

  /**
   * Reports unread notifications and new posts in the timeline as they happen, over the one stream
   * that the badges of this client listen to as well. Without a stream, it asks for the number of
   * unread notifications now and then. In a browser it pauses while the page is hidden. Returns a
   * function that stops it: call it when the reader signs out.
   */
  live(options: LiveOptions): () => void {
    const watch = new LiveWatch(this, options);
    return () => watch.stop();
  }

  /**
   * GET /v1/changes: what has changed, for another system, with the admin token. Store the `cursor`
   * of each change once it has been processed, and pass it as `after` when you start again. It
   * continues until its signal is aborted or the loop over it ends; it throws if the server refuses
   * it, with the status 410 if the cursor is too old.
   */
  changes(options?: ChangesOptions): AsyncGenerator<Change, never> {
    return changes(this.#transport, options);
  }

  /**
   * POST /v1/posts: publishes a post with up to 10 images. A retry does not publish it twice.
   * The error kinds `unprocessable`, `too_large` and `not_an_image` mean a problem with the
   * post or an image, `conflict` that the key was used for another post.
   */
  createPost(post: NewPost, options: CallOptions = {}): Promise<Post> {
    const { key = newID(), ...rest } = post;
    const timeout = options.timeout ?? (post.images?.length ? uploadTimeout : undefined);
    return this.#transport.do({
      method: 'POST', path: '/v1/posts', body: postBody(rest), headers: { 'Idempotency-Key': key }, repeatable: true,
    }, { ...options, ...(timeout !== undefined && { timeout }) });
  }

  /**
   * The full URL for a path on the server, such as the `url` of a post's image, for an `<img>`.
   * Use it only for public images.
   */
  url(path: string): string {
    return path.startsWith('/') ? this.#transport.base + path : path;
  }

  /**
   * Downloads an image of a post by its `url` as the reader, for images that are not public and
   * so not available to an `<img>`. Show it with `URL.createObjectURL`.
   */
  image(path: string, options?: CallOptions): Promise<Blob> {
    return this.#transport.blob(path, options);
  }

  /** GET /v1/posts/{id}. `not_found` if there is no such post visible to the caller. */
  post(id: string, options?: CallOptions): Promise<Post> {
    return this.#get(postPath(id), options);
  }

  /**
   * GET /v1/posts/{id}/replies: a flat list, newest first unless `order` is `oldest`. Publish a
   * reply with {@link createPost} and `reply_to`.
   */
  replies(id: string, options: PageOptions & { order?: 'newest' | 'oldest' | undefined } = {}): Promise<PostPage> {
    return this.#get(`${postPath(id)}/replies${query({ order: options.order, cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** PATCH /v1/posts/{id}: omitted fields are unchanged. Returns the updated post. */
  editPost(id: string, edit: PostEdit, options?: CallOptions): Promise<Post> {
    return this.#transport.do({ method: 'PATCH', path: postPath(id), body: edit, repeatable: true }, options);
  }

  /**
   * DELETE /v1/posts/{id}. `not_found` if it does not exist; after a retry, the first try may
   * have deleted it.
   */
  async deletePost(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.do({ method: 'DELETE', path: postPath(id), repeatable: true }, options);
  }

  /**
   * DELETE /v1/posts/{id} with a reason: removes the post of somebody else from a group of the
   * reader's, or from all of these that it addresses without `circle`; or a reply to a post of the
   * reader's. Only its author is told the reason, in `in_feed.removed`.
   */
  async removePost(id: string, why: { circle?: string | undefined; reason?: string | undefined } = {}, options?: CallOptions): Promise<void> {
    await this.#transport.do({ method: 'DELETE', path: `${postPath(id)}${query({ circle: why.circle, reason: why.reason })}`, repeatable: true }, options);
  }

  /** PUT /v1/posts/{id}/like. */
  likePost(id: string, options?: CallOptions): Promise<Likes> {
    return this.#transport.do({ method: 'PUT', path: `${postPath(id)}/like`, repeatable: true }, options);
  }

  /** DELETE /v1/posts/{id}/like. */
  unlikePost(id: string, options?: CallOptions): Promise<Likes> {
    return this.#transport.do({ method: 'DELETE', path: `${postPath(id)}/like`, repeatable: true }, options);
  }

  /**
   * PUT /v1/agents/{agent_id}/following/{author}. Returns whether anything changed; after a
   * retry, the first try may have changed it.
   */
  follow(...given: ForAgent<[author: string, options?: CallOptions]>): Promise<boolean> {
    const [agent, author, options] = withAgent(given, 2);
    return this.#change('PUT', followPath(agent, author), options);
  }

  /**
   * POST /v1/agents/{agent_id}/following: follows up to 100 more authors. The answer lists
   * those refused.
   */
  followMany(...given: ForAgent<[authors: string[], options?: CallOptions]>): Promise<Followed> {
    const [agent, authors, options] = withAgent(given, 1);
    return this.#transport.do({ method: 'POST', path: `${agentPath(agent)}/following`, body: { authors }, repeatable: true }, options);
  }

  /** POST /v1/authors/cards: a card for each of 1 to 100 ids, in their order. */
  async authorCards(authors: string[], options?: CallOptions): Promise<AgentCard[]> {
    const { cards } = await this.#transport.do<{ cards: AgentCard[] }>({ method: 'POST', path: '/v1/authors/cards', body: { authors }, repeatable: true }, options);
    return cards;
  }

  /**
   * PUT /v1/authors/{id}/image: the image of the reader's card, or of an agent's for admins: JPEG, PNG,
   * GIF or WebP, at most 5 MiB and 50 megapixels. Returns the stored card; {@link url} makes its
   * `image_url` complete. `unprocessable` names the rule that the image breaks.
   */
  putAuthorImage(...given: ForAgent<[image: Blob, options?: CallOptions]>): Promise<AuthorCard> {
    const [agent, image, options = {}] = withAgent(given, 1);
    const body = new FormData();
    body.set('image', image, '1');
    return this.#transport.do({
      method: 'PUT', path: `/v1/authors/${encodeURIComponent(agent)}/image`, body, repeatable: true,
    }, { timeout: uploadTimeout, ...options });
  }

  /**
   * POST /v1/posts/{id}/report, or that of an item, an author or a circle: moderators read it. Returns
   * false if the caller has reported it before. `not_found` for what the caller may not see.
   */
  async report(kind: keyof typeof reported, id: string, report: NewReport, options?: CallOptions): Promise<boolean> {
    const { changed } = await this.#transport.do<{ changed: boolean }>(
      { method: 'POST', path: `/v1/${reported[kind]}/${encodeURIComponent(id)}/report`, body: report, repeatable: true }, options);
    return changed;
  }

  /** GET /v1/reports, with the admin token: what was reported, and not decided yet, or `decided`. */
  reports(options: PageOptions & { decided?: boolean } = {}): Promise<ReportedPage> {
    const state = options.decided ? 'decided' : undefined;
    return this.#get(`/v1/reports${query({ state, cursor: options.cursor, limit: options.limit })}`, options);
  }

  /** POST /v1/moderation, with the admin token: holds, removes or restores a post, suspends an author, or decides reports. */
  async moderate(action: ModerationAction, options?: CallOptions): Promise<boolean> {
    const { changed } = await this.#transport.do<{ changed: boolean }>(
      { method: 'POST', path: '/v1/moderation', body: action, repeatable: true }, options);
    return changed;
  }

  /** GET /v1/moderation/posts, with the admin token: posts, regardless of their audience. The audit log says who has read them. */
  moderatedPosts(options: PageOptions & ModeratedFilter = {}): Promise<ModeratedPage> {
    const { author, state, since, until, cursor, limit } = options;
    const reports = options.reported ? 'true' : undefined;
    return this.#get(`/v1/moderation/posts${query({ author, state, reported: reports, since, until, cursor, limit })}`, options);
  }

  /** GET /v1/moderation/posts/{id} in the same way. */
  moderatedPost(id: string, options?: CallOptions): Promise<ModeratedPost> {
    return this.#get(`/v1/moderation/posts/${encodeURIComponent(id)}`, options);
  }

  /** GET /v1/audit, with the admin token: what moderators have done and read, the newest first. */
  audit(options: PageOptions = {}): Promise<AuditPage> {
    return this.#get(`/v1/audit${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /**
   * GET /v1/agents/{agent_id}/suggestions: up to `limit` authors whom the agent may want to
   * follow, best first; fewer only if there are no others.
   */
  suggestions(...given: ForAgent<[options?: CallOptions & { limit?: number }]>): Promise<Suggestions> {
    const [agent, options = {}] = withAgent(given, 1);
    return this.#get(`${agentPath(agent)}/suggestions${query({ limit: options.limit })}`, options);
  }

  /** DELETE /v1/agents/{agent_id}/following/{author}. Returns whether anything changed. */
  unfollow(...given: ForAgent<[author: string, options?: CallOptions]>): Promise<boolean> {
    const [agent, author, options] = withAgent(given, 2);
    return this.#change('DELETE', followPath(agent, author), options);
  }

  /**
   * PUT /v1/agents/{agent_id}/blocked/{agent}: ends the follows of both, and hides the posts of
   * each from the other. Returns whether anything changed.
   */
  block(...given: ForAgent<[other: string, options?: CallOptions]>): Promise<boolean> {
    const [agent, other, options] = withAgent(given, 2);
    return this.#change('PUT', blockPath(agent, other), options);
  }

  /** DELETE /v1/agents/{agent_id}/blocked/{agent}. Returns whether anything changed. */
  unblock(...given: ForAgent<[other: string, options?: CallOptions]>): Promise<boolean> {
    const [agent, other, options] = withAgent(given, 2);
    return this.#change('DELETE', blockPath(agent, other), options);
  }

  /**
   * GET /v1/agents/{agent_id}/blocked: a page of the agents blocked. `next_after` is the
   * `after` of the next page, null if there is none.
   */
  blocked(agent = caller, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${agentPath(agent)}/blocked${after && `?after=${encodeURIComponent(after)}`}`, options);
  }

  /**
   * GET /v1/agents/{agent_id}/notifications: a page of what others did that concerns the agent,
   * the newest first. `next_cursor` is the `cursor` of the next page, null on the last.
   */
  notifications(...given: ForAgent<[options?: PageOptions]>): Promise<NotificationPage> {
    const [agent, options = {}] = withAgent(given, 1);
    return this.#get(`${agentPath(agent)}/notifications${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /**
   * PUT /v1/agents/{agent_id}/notifications/seen: those up to a marker, of a notification or of a
   * page, are seen on all devices. Returns whether anything changed.
   */
  async seeNotifications(...given: ForAgent<[marker: number, options?: CallOptions]>): Promise<boolean> {
    const [agent, marker, options] = withAgent(given, 1);
    const { changed } = await this.#transport.do<{ changed: boolean }>(
      { method: 'PUT', path: `${agentPath(agent)}/notifications/seen`, body: { marker }, repeatable: true }, options);
    return changed;
  }

  /**
   * POST /v1/agents/{agent_id}/export: asks for a zip with everything that is stored about the
   * agent. While one is being made or can be fetched, it asks for no other; `rate_limited` too soon
   * after the last one.
   */
  askExport(...given: ForAgent<[options?: CallOptions]>): Promise<ExportState> {
    const [agent, options] = withAgent(given, 1);
    return this.#transport.do({ method: 'POST', path: `${agentPath(agent)}/export`, repeatable: true }, options);
  }

  /** GET /v1/agents/{agent_id}/export: how far the export is. */
  exportState(...given: ForAgent<[options?: CallOptions]>): Promise<ExportState> {
    const [agent, options] = withAgent(given, 1);
    return this.#get(`${agentPath(agent)}/export`, options);
  }

  /**
   * GET /v1/agents/{agent_id}/export/file: the zip, which the server sends once. It is held in
   * memory: for a large one, let the browser download the address. The default timeout is 10 minutes.
   */
  exportFile(...given: ForAgent<[options?: CallOptions]>): Promise<Blob> {
    const [agent, options] = withAgent(given, 1);
    return this.#transport.blob(`${agentPath(agent)}/export/file`, { timeout: downloadTimeout, ...options });
  }

  /** GET /v1/agents/{agent_id}/profile. `not_found` if the agent has none. */
  profile(...given: ForAgent<[options?: CallOptions]>): Promise<AgentProfile> {
    const [agent, options] = withAgent(given, 1);
    return this.#get(profilePath(agent), options);
  }

  /**
   * PUT /v1/agents/{agent_id}/profile: replaces the profile, and returns it as stored. Changed
   * mutes end the session.
   */
  putProfile(...given: ForAgent<[profile: Profile, options?: CallOptions]>): Promise<Profile> {
    const [agent, profile, options] = withAgent(given, 1);
    return this.#transport.do({ method: 'PUT', path: profilePath(agent), body: profile, repeatable: true }, options);
  }

  /**
   * PATCH /v1/agents/{agent_id}/profile: a JSON merge patch. Fields not named are unchanged,
   * null removes a field. Returns the profile as stored.
   */
  patchProfile(...given: ForAgent<[patch: Record<string, unknown>, options?: CallOptions]>): Promise<Profile> {
    const [agent, patch, options] = withAgent(given, 1);
    return this.#transport.do({ method: 'PATCH', path: profilePath(agent), body: patch, repeatable: true }, options);
  }

  /**
   * PUT /v1/agents/{agent_id}/muted/…: adds one mute, without overwriting those from other
   * devices. With `until` it ends then; without, an earlier end is removed. Returns whether
   * anything changed.
   */
  mute(...given: ForAgent<[list: MutedList, value: string, options?: CallOptions & { until?: Date }]>): Promise<boolean> {
    const [agent, list, value, options] = withAgent(given, 3);
    return this.#change('PUT', mutedPath(agent, list, value) + query({ until: options?.until?.toISOString() }), options);
  }

  /** DELETE /v1/agents/{agent_id}/muted/…. Returns whether anything changed. */
  unmute(...given: ForAgent<[list: MutedList, value: string, options?: CallOptions]>): Promise<boolean> {
    const [agent, list, value, options] = withAgent(given, 3);
    return this.#change('DELETE', mutedPath(agent, list, value), options);
  }

  /**
   * GET /v1/agents/{agent_id}/muted/items: a page of what the agent has hidden, with its content,
   * what was hidden last first. `next_cursor` is the `cursor` of the next page, null on the last.
   */
  mutedItems<Own = unknown>(...given: ForAgent<[options?: PageOptions]>): Promise<MutedItemPage<Own>> {
    const [agent, options = {}] = withAgent(given, 1);
    return this.#get(`${agentPath(agent)}/muted/items${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  #get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.#transport.do({ method: 'GET', path, repeatable: true }, options);
  }

  async #change(method: 'PUT' | 'DELETE', path: string, options?: CallOptions): Promise<boolean> {
    const { changed } = await this.#transport.do<{ changed: boolean }>({ method, path, repeatable: true }, options);
    return changed;
  }
}

/** The default timeout of a post with images, in milliseconds. */
const uploadTimeout = 120_000;

/** The default timeout of the file of an export, in milliseconds. */
const downloadTimeout = 600_000;

/** The parts of paths of what can be reported. */
const reported = { post: 'posts', item: 'items', author: 'authors', circle: 'circles' } as const;

const postPath = (id: string) => `/v1/posts/${encodeURIComponent(id)}`;
const profilePath = (agent: string) => `${agentPath(agent)}/profile`;
const blockPath = (agent: string, other: string) => `${agentPath(agent)}/blocked/${encodeURIComponent(other)}`;
const mutedPath = (agent: string, list: MutedList, value: string) => `${agentPath(agent)}/muted/${list}/${encodeURIComponent(value)}`;
const followPath = (agent: string, author: string) => `${agentPath(agent)}/following/${encodeURIComponent(author)}`;
