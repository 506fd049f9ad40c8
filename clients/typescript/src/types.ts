import type { paths } from './openapi.js';
import type { Call } from './options.js';

/** Methods as {@link paths} names them. */
type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The methods of a path. Others are there, too, as optional and of type never. */
type MethodOf<Path extends keyof paths> = {
  [M in Method]: paths[Path][M] extends { responses: unknown } ? M : never;
}[Method];

/** A path as it is called: a parameter is any text, and a query may follow. */
type Filled<Path extends string> = Path extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${Filled<After>}` : Path;

/** The paths of the routes with a method, as they are called: `/v1/posts/${string}/like`. */
export type PathWith<M extends Method> = {
  [Path in keyof paths]: M extends MethodOf<Path> ? Filled<Path> | `${Filled<Path>}?${string}` : never;
}[keyof paths];

/** A call whose method and path belong to one route. Write a path with ids as a template, in place. */
export type RouteCall = {
  [M in Method]: Omit<Call, 'method' | 'path'> & { method: Uppercase<M>; path: PathWith<M> };
}[Method];

/**
 * The `data` of a route's successful answer, for {@link Client.do}:
 * `Data<'/v1/agents/{agent_id}/profile', 'get'>`.
 */
export type Data<Path extends keyof paths, M extends MethodOf<Path>> =
  paths[Path][M] extends { responses: { 200: { content: { 'application/json': { data: infer D } } } } } ? D : never;

type SentPost = Data<'/v1/timeline', 'get'>['items'][number];
type SentPage = Data<'/v1/feed', 'post'>;

/** A post as the caller sees it. Times are Unix seconds. */
export type Post = SentPost & Required<Pick<SentPost, 'in_feed'>>;

/** A page of the feed. `Own` is the type of the app's own fields of items. */
export type Page<Own = unknown> = Omit<SentPage, 'items'> & { items: Content<Own>[] };

/** An entry of a page. {@link isPost} distinguishes posts from items. */
export type Content<Own = unknown> = Post | Item<Own>;

/**
 * An item of a page. `update_time` is Unix seconds; the app's own fields are returned as
 * stored.
 */
export type Item<Own = unknown> = Exclude<SentPage['items'][number], SentPost> & Own;

/** Trending entries, the same for everyone. */
export type GuestPage = Data<'/v1/feed/guest', 'get'>;

type SentRelated = Data<'/v1/items/{id}/related', 'get'>;

/** What is related to an item, each with one reason in `in_feed.why`. `Own` is as for {@link Page}. */
export type RelatedPage<Own = unknown> = Omit<SentRelated, 'items'> & { items: Content<Own>[] };

/** A page of posts, newest first. It may be short, even empty, while `has_more` is true. */
export type PostPage = Omit<Data<'/v1/timeline', 'get'>, 'items'> & { items: Post[] };

type SentTiles = Data<'/v1/authors/{id}/posts', 'get'>;

/** A page of an author's grid, newest first. */
export type TilePage = Omit<SentTiles, 'items'> & { items: Exclude<SentTiles['items'][number], SentPost>[] };

/**
 * The outcome of reporting events: how many count, and how many concern items not shown to the
 * reader.
 */
export type EventsTaken = Data<'/v1/events', 'post'>;

/** The number of likes of a post, and whether the caller likes it. */
export type Likes = Data<'/v1/posts/{id}/like', 'put'>;

/** A reader's interests and mutes. */
export type Profile = Data<'/v1/agents/{agent_id}/profile', 'put'>;

/** A profile with the interests learned from its reader's acts. */
export type AgentProfile = Data<'/v1/agents/{agent_id}/profile', 'get'>;

/** A page of agents by id. `next_after` is for the next page, null on the last one. */
export type AgentCard = AgentPage['cards'][number];
export type AgentPage = Data<'/v1/agents/{agent_id}/blocked', 'get'>;

/** An author's card and counts; of one whom the caller blocks, only `is_blocked`. */
export type Author = Data<'/v1/authors/{id}', 'get'>;

/** The caller's own card and counts. */
export type Me = Exclude<Author, { is_blocked: boolean }>;

/** A card as it is stored. */
export type AuthorCard = Data<'/v1/authors/{id}', 'patch'>;

/** Fields of a card to change; null removes one. */
export type AuthorPatch = paths['/v1/authors/{id}']['patch']['requestBody']['content']['application/json'];

/** A circle, a group or an event. */
export type Circle = Data<'/v1/circles/{id}', 'get'>;

/** A page of circles by id. `next_after` is for the next page, null on the last one. */
export type CirclePage = Data<'/v1/circles', 'get'>;

/** What a circle is to be. */
export type CircleChange = paths['/v1/circles/{id}']['patch']['requestBody']['content']['application/json'];

/** How many authors were newly followed, and which were refused. */
export type Followed = Data<'/v1/agents/{agent_id}/following', 'post'>;

/** Authors whom an agent may want to follow, with the reasons. */
export type Suggestions = Data<'/v1/agents/{agent_id}/suggestions', 'get'>;

/**
 * A list of mutes. Those in a profile are `authors`, `tags` and `items`, which also has groups of
 * items. `circles` are groups of people and events, `invitations` agents whose invitations are not
 * listed, `notifications` kinds of notifications.
 */
export type MutedList = 'authors' | 'tags' | 'items' | 'words' | 'circles' | 'invitations' | 'notifications';

type SentMuted = Data<'/v1/agents/{agent_id}/muted/items', 'get'>;

/** A page of what an agent has hidden, what was hidden last first; `item` is its content, if the agent may see it. */
export type MutedItemPage<Own = unknown> = Omit<SentMuted, 'items'> & {
  items: (Omit<SentMuted['items'][number], 'item'> & { item?: Content<Own> })[];
};

/** A page of what others did that concerns an agent, the newest first. */
export type NotificationPage = Data<'/v1/agents/{agent_id}/notifications', 'get'>;

/** A group of notifications: "ana and 4 others liked your post". */
export type Notification = NotificationPage['notifications'][number];

/** How far the export of an agent is. */
export type ExportState = Data<'/v1/agents/{agent_id}/export', 'get'>;

/** A report of a post, an item, an author or a group: `{ reason: 'spam' }`. */
export type NewReport = paths['/v1/posts/{id}/report']['post']['requestBody']['content']['application/json'];

/** A page of what was reported, what was reported last first. */
export type ReportedPage = Data<'/v1/reports', 'get'>;

/** What a moderator does about an object. */
export type ModerationAction = paths['/v1/moderation']['post']['requestBody']['content']['application/json'];

/** A page of posts as moderators see them, the newest first. */
export type ModeratedPage = Data<'/v1/moderation/posts', 'get'>;

/** A post as moderators see it, regardless of its audience. */
export type ModeratedPost = Data<'/v1/moderation/posts/{id}', 'get'>;

/** Selects posts for moderators. Times are Unix seconds, of the creation. */
export interface ModeratedFilter {
  author?: string | undefined;
  state?: 'held' | 'removed' | undefined;
  reported?: boolean | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** A page of the audit log, the newest entries first. */
export type AuditPage = Data<'/v1/audit', 'get'>;

/** An act of the reader on an item or a post. `hide` also mutes it for the reader permanently. */
export type FeedEvent = {
  type: 'click' | 'like' | 'dislike' | 'hide';
  id: string;
};

/**
 * A reader's feed: by interests, or posts from people they follow blended with trending
 * entries.
 */
export type FeedName = 'for_you' | 'home' | `tag:${string}` | `lang:${string}` | (string & {});

/** Whether an entry of a page is a post. */
export function isPost<Own>(content: Content<Own>): content is Post {
  return content.id.startsWith('post:');
}
