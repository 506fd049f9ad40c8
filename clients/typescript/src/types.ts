import type { paths } from './openapi.js';

/** Methods of {@link paths}, as they are written there. */
type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/**
 * The `data` of a success of a route, for {@link Client.do}:
 * `Data<'/v1/agents/{agent_id}/profile', 'get'>`.
 */
export type Data<Path extends keyof paths, M extends Method & keyof paths[Path]> =
  paths[Path][M] extends { responses: { 200: { content: { 'application/json': { data: infer D } } } } } ? D : never;

type SentPost = Data<'/v1/timeline', 'get'>['items'][number];
type SentPage = Data<'/v1/feed', 'post'>;

/** A post as the caller sees it. Times are Unix seconds. */
export type Post = SentPost & Required<Pick<SentPost, 'in_feed'>>;

/** A page of the feed. `Own` are the fields of items that are the app's own. */
export type Page<Own = unknown> = Omit<SentPage, 'items'> & { items: Content<Own>[] };

/** What a page consists of. {@link isPost} tells posts from items. */
export type Content<Own = unknown> = Post | Item<Own>;

/** An item of a page. `update_time` is Unix seconds; fields of the app's own are kept as they were stored. */
export type Item<Own = unknown> = Exclude<SentPage['items'][number], SentPost> & Own;

/** What trends, the same for everybody. */
export type GuestPage = Data<'/v1/feed/guest', 'get'>;

/** A page of posts, newest first. It may be short, even empty, while `has_more` is true. */
export type PostPage = Omit<Data<'/v1/timeline', 'get'>, 'items'> & { items: Post[] };

type SentTiles = Data<'/v1/authors/{id}/posts', 'get'>;

/** A page of an author's grid, newest first. */
export type TilePage = Omit<SentTiles, 'items'> & { items: Exclude<SentTiles['items'][number], SentPost>[] };

/** The outcome of events: how many count, and how many are of items that the reader was not shown. */
export type EventsTaken = Data<'/v1/events', 'post'>;

/** The likes of a post, and whether the caller is among them. */
export type Likes = Data<'/v1/posts/{id}/like', 'put'>;

/** What a reader likes and refuses. */
export type Profile = Data<'/v1/agents/{agent_id}/profile', 'put'>;

/** A profile with what was learned of its reader. */
export type AgentProfile = Data<'/v1/agents/{agent_id}/profile', 'get'>;

/** A page of agents by id. `next_after` is for the next page, null where this is the last. */
export type AgentPage = Data<'/v1/agents/{agent_id}/blocked', 'get'>;

/** How many authors are followed that were not before, and who was refused. */
export type Followed = Data<'/v1/agents/{agent_id}/following', 'post'>;

/** Authors whom an agent may want to follow, and why. */
export type Suggestions = Data<'/v1/agents/{agent_id}/suggestions', 'get'>;

/** A list of what a profile mutes; `items` has groups, too. */
export type MutedList = 'authors' | 'tags' | 'items';

/** Something the reader did with an item or a post. `hide` also mutes it for them, for good. */
export type FeedEvent = {
  type: 'click' | 'like' | 'dislike' | 'hide';
  id: string;
};

/** Which of a reader's feeds: by their interests, or posts by whom they follow blended with what trends. */
export type FeedName = 'for_you' | 'home';

/** Says whether an entry of a page is a post. */
export function isPost<Own>(content: Content<Own>): content is Post {
  return content.id.startsWith('post:');
}
