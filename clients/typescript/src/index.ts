export { Feed, type FeedCallOptions, type FeedOptions } from './feed.js';
export type { Badge, BadgeOptions } from './badge.js';
export { Client, type Ask, type PageOptions } from './client.js';
export { FreshetError, type ErrorDetails, type ErrorKind } from './errors.js';
export type { Call, CallOptions, Options } from './options.js';
export type { NewImage, NewPost, PostEdit } from './posts.js';
export type { News, StreamOptions } from './stream.js';
export * from './types.js';
export type { paths } from './openapi.js';
