// Generated from /openapi.json by "npm run generate". Do not edit.

export interface paths {
    "/v1/feed": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the feed
         * @description `refresh` finds the best unseen items now and answers the first page of
         *     them; the rest waits half an hour for `load_more`. `load_more` with
         *     nothing waiting is a refresh, so an app can always scroll on. What was
         *     answered is not answered again for seven days, whichever server the next
         *     call goes to.
         *
         *     With `silent` a refresh tells what is new since the last one and
         *     changes nothing: ask in the background, and show a badge where `items`
         *     is not empty.
         *
         *     With a `request_id` the same call can be repeated for a minute and is
         *     answered the same page. Without one, a page whose answer was lost is
         *     lost with it.
         *
         *     `feed` says which of the reader's feeds it is: `for_you`, or `home`, which blends
         *     posts by whom they follow with what is trending, discovered and promoted. Each
         *     has a session of its own; what was answered in one is not answered in the other.
         *
         *     With `why` each item says in `in_feed.why` what its score is made of, for
         *     texts such as "because you read about Go".
         */
        post: operations["postFeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/impressions": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what the reader has seen
         * @description Needed where the server runs with `impressions.on: seen`, so that what
         *     was delivered but never looked at may come back. Elsewhere everything
         *     delivered counts as seen, and a report does no harm. Reporting an item
         *     again changes nothing.
         */
        post: operations["postImpressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feed/guest": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed without an account
         * @description What readers like and comment at the moment, for apps and pages that do
         *     not know who reads yet. The answer is the same for everybody, whoever
         *     calls, and may be cached for a minute: a cache may show a post for that
         *     long after it was deleted. Nothing is recorded, and nothing is left out
         *     for having been shown before.
         *
         *     What trends is computed every five minutes: the items and public posts of
         *     seven days with the highest
         *     `(likes + 2·comments) / (hours old + 1)²`, ordered by that ×
         *     `exp(−0.02 · hours old)` and built as any page is. The newest items and public
         *     posts come behind it where that is less than a page. Every tenth position,
         *     from the ninth on, is for what is promoted.
         */
        get: operations["getGuestFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what the reader did
         * @description One event, or up to 500 in `events`. They are counted for the report of
         *     the ranking experiments, each once a day for a reader, an item and a
         *     type, and only for items the reader was shown: sending them again is
         *     harmless. `hide` also takes the item, or its group, out of the reader's
         *     feed; so does `dislike` with `dedup.when_exhausted: oldest`.
         */
        post: operations["postEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read the timeline
         * @description Every post by whom the caller follows, and what addresses or mentions
         *     them, newest first, nothing left out. Without `cursor` it begins with
         *     the newest. What was deleted, and what the caller may not see any more,
         *     is never in it.
         *
         *     A page may be shorter than `limit`, even empty, while there is more: ask
         *     on with `next_cursor` until `has_more` is false.
         *
         *     While the social store is down, a page has what is kept of public posts,
         *     without `reason`, and `degraded` has `social`. What is left out is there
         *     again when the store is: begin anew. Where there is nothing to show it is
         *     503.
         *
         *     Where posts wait to be delivered, or lists cannot be read and the store
         *     answers, `degraded` has `timeline`: a post of some seconds ago may be
         *     missing.
         *
         *     What a page shows, the feeds do not show again. Where that could not be
         *     noted `degraded` has `session`.
         */
        get: operations["getTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline/warm": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Build the timeline ahead
         * @description Makes the next read fast, for example at login or after onboarding. A
         *     timeline that is there already costs nothing. It has no body.
         */
        post: operations["warmTimeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Be told what is new in the timeline
         * @description Server-sent events. An event `new` says that the timeline has posts that
         *     are newer than the one before, and how many; it comes within three
         *     seconds after a post was delivered, whichever server the caller is
         *     connected to. Read them with `GET /v1/timeline`. Posts that the caller
         *     does not see, has muted or has written are not counted.
         *
         *     The `id` of an event is a place in the timeline. Who connects again with
         *     `Last-Event-ID` is told at once what is new since. Without it the stream
         *     begins at what the timeline has then, whose `id` comes first, in a block
         *     of its own, which is no event. `0` is the place of an empty timeline.
         *
         *     A comment comes every 15 seconds. A stream ends after about half an hour,
         *     and when its server stops: connect again after `retry` milliseconds, as
         *     `EventSource` does by itself. An agent may have 8 streams open on a
         *     server.
         */
        get: operations["getStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/posts": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a post
         * @description The caller is its author. Hashtags of the caption are added to the tags.
         *     Who may see it is fixed from now on: everybody where `audience` is left
         *     out, nobody but those mentioned with `{}`. The author sees it in their
         *     own timeline in the next call.
         *
         *     With `reply_to` it is a reply: it stands under the post that it answers, is
         *     visible to everyone who can see that post, and is in no timeline or feed. 403
         *     says who may reply. 404 means that the caller cannot see what they answer.
         *
         *     With an `Idempotency-Key` the call may be repeated: for 24 hours it
         *     answers the same post as it is then, with 200 in place of 201.
         *
         *     A post with images is a form: the field `post` with the post as JSON, and
         *     the field `image` for each file, at most 10 of at most 5 MiB and 50
         *     megapixels. JPEG, PNG, GIF (its first frame) and WebP are told by their
         *     content. Location and camera data are removed, pictures are turned
         *     upright, and a thumbnail of 320 pixels is made. Either the post is there
         *     with all its images, or nothing is stored.
         */
        post: operations["createPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/media/{key}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The last part of an image's `url` or `thumbnail`.
                 * @example 9f86d081884c7d659a2feaa0c55ad015
                 */
                key: string;
            };
            cookie?: never;
        };
        /**
         * Read an image
         * @description Of a public post for everybody, for a year from every cache; of any other
         *     for who may see the post, from no cache. For all others there is nothing
         *     under this key. Ranges and `If-None-Match` are answered as HTTP says. What
         *     is under a key never changes.
         */
        get: operations["getImage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/posts/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        /**
         * Read a post
         * @description For everybody who may see it. A call that names no agent sees what is
         *     public, and gets no `in_feed`. For all others there is nothing under
         *     this id.
         *
         *     While the social store is down, a public post is answered as it was kept,
         *     an hour old at most, with `degraded: [social]`, and any other is 503.
         */
        get: operations["getPost"];
        put?: never;
        post?: never;
        /**
         * Delete a post
         * @description From this answer on nobody is shown it any more.
         */
        delete: operations["deletePost"];
        options?: never;
        head?: never;
        /**
         * Edit a post
         * @description What is left out stays. The post keeps its place in every timeline and
         *     its audience. Posts that came from another system are edited there.
         */
        patch: operations["editPost"];
        trace?: never;
    };
    "/v1/posts/{id}/like": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Like a post
         * @description Again it changes nothing. A like that is news also counts as the event `like`.
         */
        put: operations["likePost"];
        post?: never;
        /**
         * Remove a like
         * @description Where there is none it changes nothing. It also works for a post that the caller may not see any more, and then answers 0 likes, as for a post that does not exist.
         */
        delete: operations["unlikePost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/posts/{id}/replies": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        /**
         * Read the replies to a post
         * @description The replies that the caller may see and has not muted, as a flat list: a reply to
         *     a reply stands under the same post, and `reply_to` says what it answers. A reply
         *     has no replies of its own. A caller who may not see the post gets 404. Reading
         *     replies does not count as showing them.
         */
        get: operations["getReplies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/authors/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * Read an author
         * @description Their card and counts. Who blocks the caller is not there; of whom the caller blocks only that is told.
         */
        get: operations["getAuthor"];
        /** Replace an author's card */
        put: operations["putAuthor"];
        post?: never;
        /**
         * Erase an author
         * @description Their card and posts are removed with the answer, and their followers,
         *     but for authors with thousands of them, for whom that takes some seconds. Whom they follow and what they like stays; `DELETE
         *     /v1/agents/{agent_id}` erases that, too. Doing it again changes nothing.
         */
        delete: operations["deleteAuthor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/authors/{id}/posts": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * Read an author's posts
         * @description The author's posts that the caller may see, newest first, including the author's
         *     replies to public posts. Replies to other posts are listed for the author alone.
         *     An author who is not known has none. Paged as the timeline is. What they show a caller with a name,
         *     the feeds do not show again; `degraded` has `session` where that could
         *     not be noted.
         */
        get: operations["getAuthorPosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/following": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List whom an agent follows */
        get: operations["getFollowing"];
        put?: never;
        /**
         * Follow several authors
         * @description In addition to those that the agent follows already. Their posts are in the timeline in the
         *     next call. Each author is accepted or refused separately, as with `PUT`; a malformed
         *     id, or the agent's own, refuses the whole call with 400, and nobody is followed.
         *     Where `social.follows` is `app`, only an admin may do it.
         */
        post: operations["followMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/suggestions": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * Suggest authors to follow
         * @description First authors whom at least three of the people that the agent follows also follow; a
         *     background job finds them once a day. Then authors of trending posts in the agent's
         *     languages and interests. Authors whom the agent follows, mutes or blocks, and authors
         *     who block the agent, are left out.
         */
        get: operations["getSuggestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/followers": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List who follows an agent */
        get: operations["getFollowers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/following/{author}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to follow. Who follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Follow an author
         * @description Their posts are in the timeline in the next call. An agent follows at
         *     most 7,500. Where `social.follows` is `app`, only an admin may do it.
         *     While one of the two blocks the other it is refused.
         */
        put: operations["follow"];
        post?: never;
        /**
         * Follow an author no longer
         * @description Their posts are gone from the timeline in the next call, but for those that are there for another reason.
         */
        delete: operations["unfollow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/blocked": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List whom an agent blocks */
        get: operations["getBlocked"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/blocked/{agent}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Block an agent
         * @description Ends the follows of both, forbids new ones, and neither sees the other's posts from now on.
         */
        put: operations["block"];
        post?: never;
        /**
         * Block an agent no longer
         * @description The follows do not come back. A block by the other stays.
         */
        delete: operations["unblock"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's circles
         * @description Sorted by id. A circle is private to its owner, so `joined` and `invited` list only groups and events.
         */
        get: operations["getCircles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * Read a circle
         * @description For its owner. Members and invited agents can also read a group or an event. Everybody else gets 404.
         */
        get: operations["getCircle"];
        /**
         * Make or change a circle
         * @description The caller owns it. An admin names the owner of a new one. The owner cannot be
         *     changed. An agent can own at most 500 circles, groups and events. An event needs
         *     `until`; after that time it takes no new posts.
         */
        put: operations["putCircle"];
        post?: never;
        /**
         * Remove a circle
         * @description Its members are members no longer. Posts for it stay with whom else they are for.
         */
        delete: operations["deleteCircle"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}/members": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * List a circle's members
         * @description For its owner. Members of a group or an event can read it where `members_visible_to` is `members`.
         */
        get: operations["getMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}/members/{agent}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /** @example c1 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The member.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Add a member
         * @description They see the circle's posts in their timeline in the next call, earlier ones included;
         *     in a group or an event whose `history` is `joined`, those from now on. The owner adds
         *     members. An invited agent joins by adding itself. A circle has at most 5,000 members,
         *     and an agent is in at most 1,000 groups and events. An agent who blocks the owner, or
         *     whom the owner blocks, cannot be added.
         */
        put: operations["addMember"];
        post?: never;
        /**
         * Remove a member
         * @description They see the circle's posts no longer, in no answer that begins after this one. Members may remove themselves; the owner of a group or an event stays in it.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}/invitations/{agent}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description A group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description Who is invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Invite to a group or an event
         * @description They may join, once, by `PUT /v1/circles/{id}/members/{agent}`. A group has at most
         *     5,000 open invitations, an agent 1,000, of these 20 by one owner. Across a block nobody is invited.
         */
        put: operations["invite"];
        post?: never;
        /** Take an invitation back, or decline it */
        delete: operations["withdrawInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/events": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply events of other systems
         * @description Takes any number of events as JSON lines and applies them as they arrive.
         *     Each is taken or refused for itself. They may come late, twice and in any
         *     order, because each has its own time (`at`): an older one does not undo a
         *     newer one, and at equal times removal wins. So a body that broke off is
         *     simply sent again, and a whole network is imported by this route.
         *
         *     An event is `{"type":…,"data":{…}}`. The types and their data:
         *
         *     | type | data |
         *     |---|---|
         *     | `post.created` | `id`, `author` (`id`, and with any of `name`, `image_url` and `bio` the author's card), `created_at`, and as `POST /v1/posts` has them `caption`, `tags`, `audience`, `mentions`, `reply`, `react`; of posts of another host `origin`, `url`, `object_type` and `grants`. `at` may be left out: it is `created_at` |
         *     | `post.updated` | `id`, `at`, and what changes: `caption`, `tags`, `alts` |
         *     | `post.deleted` | `id`, `at` |
         *     | `follow.created`, `follow.removed` | `agent_id`, `author_id`, `at` |
         *     | `connections.accepted`, `connections.removed` | `agents`, the two who then follow each other, or no longer; `at` |
         *     | `circle.changed` | `id`, `at`, and one of: `owner`, `name`, `members`, and as `PUT /v1/circles/{id}` has them `kind`, `post`, `history`, `members_visible_to` and `until`, the circle as it is now (without `members` these stay); `added` and `removed`; `deleted: true` |
         *     | `engagement` | `id` of the post, `likes` and `comments` as they stand elsewhere, `at` |
         *
         *     Times are RFC 3339, or Unix seconds, and may lie up to 30 seconds ahead. The body may
         *     have 64 MiB, as sent and as unpacked; one event may have 1 MiB. What ends
         *     an upload early is answered with the report of what was applied before,
         *     in `data`.
         */
        post: operations["postGraphEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/profile": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * Read a profile
         * @description The `ETag` is that of what was declared: a PUT or PATCH with it as `If-Match` is
         *     made only where nobody else has changed the profile meanwhile. What was learned
         *     does not change it.
         */
        get: operations["getProfile"];
        /**
         * Replace a profile
         * @description Takes effect with the next refresh. Where the mutes or languages change,
         *     what was waiting for `load_more` is dropped, so that nothing muted is
         *     shown any more. The whole profile is replaced: send `If-Match` where another
         *     device may write too, or change a part by PATCH or by the routes of `muted`.
         */
        put: operations["putProfile"];
        post?: never;
        /**
         * Delete a profile
         * @description What was learned of the agent stays; without it their feed is ordered by freshness alone.
         */
        delete: operations["deleteProfile"];
        options?: never;
        head?: never;
        /**
         * Change parts of a profile
         * @description A JSON merge patch (RFC 7396): its fields replace those of the stored profile,
         *     null removes one, interests are merged, and what is left out stays. It is atomic:
         *     of two changes at once neither undoes the other, unless both name one field. An
         *     agent without a profile gets one.
         */
        patch: operations["patchProfile"];
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/authors/{author}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Whose items are not shown. Slashes in it may be written as they are.
                 * @example ann
                 */
                author: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute an author
         * @description One step of a profile: others that devices make at the same time stay. An agent
         *     without a profile gets one. Takes effect as a PUT of the profile.
         */
        put: operations["muteAuthor"];
        post?: never;
        /** Mute an author no longer */
        delete: operations["unmuteAuthor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/tags/{tag}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Which items are not shown. Slashes in it may be written as they are.
                 * @example politics
                 */
                tag: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute a tag
         * @description As muting an author.
         */
        put: operations["muteTag"];
        post?: never;
        /** Mute a tag no longer */
        delete: operations["unmuteTag"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/items/{item}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description The item or group that is not shown. Slashes in it may be written as they are.
                 * @example post/77
                 */
                item: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute an item
         * @description As muting an author. Where 1,000 are muted the oldest is muted no longer.
         */
        put: operations["muteItem"];
        post?: never;
        /** Mute an item no longer */
        delete: operations["unmuteItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/learned": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Of whom. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget what was learned
         * @description Deletes what was learned of the agent from what they did, and which acts it
         *     was learned from. The profile stays. Doing it again changes nothing.
         */
        delete: operations["forgetLearned"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whom. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase an agent
         * @description Everything that is kept of them: profile, what was learned of them,
         *     session, what is pending, what is remembered of their clicks and
         *     likes, and items that have them as author_id; what clicks and likes added
         *     to the counts of other items stays, without saying whose it was. Where there are posts also card, posts, follows, blocks, circles,
         *     memberships and likes: card and posts are removed with the answer, and so
         *     is the rest, unless there are thousands of things: then that takes some
         *     seconds. What they did before and another server has not counted yet is
         *     not learned any more. That they were shown an item stays in the filters of
         *     the last seven days, which cannot be read back. Doing it again changes
         *     nothing.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List items
         * @description The stored items, the youngest first. Posts are not among them. An item
         *     that is not changed meanwhile is neither left out nor repeated from page
         *     to page; what was written in the last second may be missing. An index of
         *     one's own is listed where it has a field for the items' ids.
         */
        get: operations["getItems"];
        put?: never;
        /**
         * Store items
         * @description Takes any number of items, as JSON lines or as one JSON array, and
         *     stores them as they arrive. Each is taken or refused for itself. An item
         *     replaces the one with its id, whatever `update_time` both have, and is
         *     not shown again for it, so an upload that broke off is simply sent again.
         *     With `if_newer` only an item with a later `update_time` replaces one.
         *     In place of an optional field, null
         *     is taken for absent.
         *
         *     The body tells whether it is lines or an array; `Content-Type` is not
         *     looked at. A UTF-8 byte order mark at its beginning is passed over. An
         *     empty body is refused; `[]` is not. It may have 64 MiB, as sent and as unpacked; one item may
         *     have 256 KiB. What ends an upload early is answered with the report of
         *     what was stored before, in `data`. So is what cannot be stored for now, because
         *     Elasticsearch is busy, or its disk is full: it is tried again for three
         *     seconds, and then the answer is 503. A line is rejected only for what it says.
         */
        post: operations["postItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items/counts": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change likes and comments of many items
         * @description Takes counts as another system knows them, as JSON lines or as one JSON
         *     array, and puts them in the place of those that are stored. The rest of
         *     an item stays, and what readers click and like is still counted. An
         *     entry about an item that is not stored, or about a post, is refused, and
         *     the others hold; of two about one item the later holds. Bodies, limits
         *     and reports are as with `POST /v1/items`. It may be repeated.
         */
        post: operations["postItemCounts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. A slash in it may be written as it is or as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        /** Read an item */
        get: operations["getItem"];
        put?: never;
        post?: never;
        /**
         * Delete an item
         * @description It is shown to nobody any more, waiting sessions included. A post is refused; its own route deletes it.
         */
        delete: operations["deleteItem"];
        options?: never;
        head?: never;
        /**
         * Change fields of an item
         * @description A JSON merge patch (RFC 7396): its fields replace those of the stored
         *     item, null removes one, objects are merged, and what is left out stays.
         *     The item is then validated as an upload is. It is atomic: of two changes
         *     at once, or of a change and an upload, none is half undone. What readers
         *     click and like is still counted. A post is refused; its own route edits it.
         */
        patch: operations["patchItem"];
        trace?: never;
    };
    "/v1/explain": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See why an agent's feed is as it is
         * @description Goes through a refresh and changes nothing: every candidate with what
         *     its score is made of and what becomes of it, how many fall away where,
         *     and the time of each stage. With `ranking` the parameters are others,
         *     with `at` the moment is. Of home it tells whose each position is by the
         *     pattern, and which source fills it.
         */
        post: operations["postExplain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ranking": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** Read the live ranking */
        get: operations["getRanking"];
        /**
         * Change the live ranking
         * @description Makes a new version, in force on every server within two seconds.
         *     Parameters that are not named stay as they are; `experiments` is the
         *     whole list of those that shall run. A call that names neither is
         *     refused: it would be a version that changes nothing. The parameters of an experiment
         *     that runs cannot be changed, its share can: end it, or take another name. A name that
         *     is used again begins at zero in the report. With `If-Match` the call fails where
         *     somebody else was faster.
         */
        put: operations["putRanking"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ranking/history": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** Read who changed the ranking, when and why */
        get: operations["getRankingHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ranking/revert": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go back to an older ranking
         * @description Makes a new version that is what the named one was, its experiments and
         *     their agents included. Nothing is lost by it: the history goes on.
         */
        post: operations["revertRanking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ranking/report": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** See how the experiments do */
        get: operations["getReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/compare": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare two rankings
         * @description Ranks by `a` and by `b` for a number of agents at one moment, and says
         *     how far the lists differ. Nothing is shown to anybody and nothing
         *     changes. What the agents have seen is not filtered.
         */
        post: operations["postCompare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replay": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Score rankings by recorded clicks
         * @description Ranks as of the moment of each click and says where each ranking would
         *     have placed the item. Catalog and profiles are those of now.
         */
        post: operations["postReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/promoted": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** List promotions */
        get: operations["getPromotions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/promoted/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The promotion's id.
                 * @example autumn
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** Read a promotion */
        get: operations["getPromotion"];
        /**
         * Promote an item or a post
         * @description In the place of the promotion with this id. It is in force on every server
         *     within some five seconds. What it promotes need not exist yet; while it
         *     does not, or is a post that is not public, the promotion does not run.
         */
        put: operations["putPromotion"];
        post?: never;
        /**
         * End a promotion
         * @description What sessions hold of it is shown, and not counted for it any more.
         */
        delete: operations["deletePromotion"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** See what waits, runs and has failed */
        get: operations["getJobs"];
        put?: never;
        /**
         * Derive again what follows from a post
         * @description Its place in timelines and outboxes, and its item where it is public.
         *     For a case in which something is not what it should be.
         */
        post: operations["postJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The job's id, from the list.
                 * @example 17
                 */
                id: number;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a job
         * @description What it would have made right stays as it is until the next change.
         */
        delete: operations["deleteJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/retry": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The job's id, from the list.
                 * @example 17
                 */
                id: number;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a job again
         * @description It is due now, with all its attempts, whatever its state; one that is dead is revived, one that runs runs again.
         */
        post: operations["retryJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The feed, as an app would show it */
        get: operations["feedPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/lab": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The decay lab, to try other parameters
         * @description Its figures come from the admin routes, so it asks for the token.
         */
        get: operations["lab"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description, to read */
        get: operations["docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the pages load */
        get: operations["asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description Says nothing of what the server needs; see `/readyz`.
         */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can the server do its work?
         * @description Asks every dependency. One that is optional degrades answers while it is
         *     down, but does not make the server unready. Elasticsearch is optional once
         *     it has answered a search since the server's start. A server that is about to stop is
         *     not ready, names no dependency, and goes on answering for `server.drain`.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Figures for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This description
         * @description Fixed for the life of a server, so it comes with an `ETag`.
         */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        FeedRequest: {
            /**
             * @description `refresh`: the best unseen items now. `load_more`: the next page of the last refresh.
             * @enum {string}
             */
            action: "refresh" | "load_more";
            /**
             * Format: int64
             * @description How many items at most.
             * @default 20
             */
            limit?: number;
            /**
             * @description Look, but change nothing. Goes with `refresh` only.
             * @default false
             */
            silent?: boolean;
            request_id?: components["schemas"]["RequestID"];
            /**
             * @description Say of each item in `in_feed.why` why it is there. It is no part of the call that `request_id` names: a repetition may ask otherwise, and is told the reasons of its own time.
             * @default false
             */
            why?: boolean;
            /**
             * @description `for_you`: items by the reader's interests. `home`: posts by whom the reader follows, blended with what is trending, discovered and promoted.
             * @default for_you
             * @enum {string}
             */
            feed?: "for_you" | "home";
        };
        /** @description An item of a page. Any other field is a business field, as it was uploaded. */
        FeedItem: components["schemas"]["Item"] & {
            in_feed?: components["schemas"]["FeedItemInFeed"];
        };
        /**
         * @description With `why` in the call: what the item's score is made of, by the reader's
         *     profile and ranking of now, what adds most first. What an interest, a
         *     keyword or something learned adds is its share of the relevance, what freshness or popularity
         *     adds is the share of the score that would be missing without it. Absent
         *     where there is nothing to say.
         */
        Reasons: components["schemas"]["ReasonsEntry"][];
        FeedAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Page"];
        };
        Page: {
            /** @description The items, best first. */
            items: components["schemas"]["Content"][];
            /** @description Whether the session still holds something. Where it does not, the next `load_more` is a refresh, which may find more: an empty `items` says that there is nothing. */
            has_more: boolean;
            /** @description That of the call, where it had one. */
            request_id?: components["schemas"]["RequestID"];
            /**
             * Format: int64
             * @description Of a silent refresh, how many unseen items are newer than the last refresh. For a reader without a refresh in the last eight days, how many are younger than a day, 99 at most.
             */
            new_count?: number;
            /** @description The reader is new: no refresh of theirs, of any feed, had ended before this call. So the answer of their first refresh says it, and silent refreshes before that. It is absent otherwise, and where the answer is degraded. */
            new_reader?: boolean;
            /**
             * @description What the answer had to do without. `recall`: the candidates are of
             *     an earlier search. `dedup`: an item may have been shown before.
             *     `session`: `load_more` will refresh, or the page is short because the
             *     session could not be asked for more. `catalog`: items are missing
             *     whose content could not be read. `social`: the social store could not
             *     be asked; posts are public ones as they were kept, an hour old at
             *     most, and what they say about the reader is not known. `why`: the
             *     items are there, but not why they are.
             */
            degraded?: ("recall" | "dedup" | "session" | "catalog" | "timeline" | "social" | "why" | "following" | "trending" | "discovery" | "promoted")[];
        };
        /** @description Made up by the client, a new one for each call that is not a repetition. */
        RequestID: string;
        /** @description An item, or a public post, whose id begins with `post:`, with all of its fields. */
        GuestEntry: {
            id: components["schemas"]["ItemID"];
            /** @description Of an item. */
            title?: string;
            summary?: string;
            /**
             * Format: int64
             * @description Of an item. Unix seconds.
             */
            update_time?: number;
            image_url?: string;
            author_id?: string;
            /** @description Of a post. */
            caption?: string;
            /**
             * Format: int64
             * @description Of a post. Unix seconds.
             */
            created_at?: number;
            author?: components["schemas"]["GuestEntryAuthor"];
            url?: string;
            tags?: string[];
            /** Format: int64 */
            likes?: number;
            /** Format: int64 */
            comments?: number;
            in_feed: components["schemas"]["GuestEntryInFeed"];
        };
        Event: {
            /** @enum {string} */
            type: "click" | "like" | "dislike" | "hide";
            id: components["schemas"]["ItemID"];
        };
        NoData: Record<string, never>;
        PostID: string;
        /**
         * @description Whom the author lets do it, of those who may see the post. `audience` are the members of the circles it is for; on a post without circles it is taken as `public`. The author may do it, too, but for `none`.
         * @default public
         * @enum {string}
         */
        Right: "public" | "followers" | "audience" | "none";
        NewPost: {
            /** @description The text. It must not be blank, unless there are images. */
            caption?: string;
            tags?: components["schemas"]["Term"][];
            /** @description What is said of the files of a form, in their order; either of all or of none. */
            images?: components["schemas"]["NewPostImagesEntry"][];
            audience?: components["schemas"]["NewPostAudience"];
            /** @description The post or reply that this one answers. Leave out `audience` and `reply`; `mentions` do not make a reply visible to anyone. */
            reply_to?: components["schemas"]["PostID"];
            /** @description Agents who may see it whatever the audience. The caption is not searched for them. */
            mentions?: components["schemas"]["AgentID"][];
            reply?: components["schemas"]["Right"];
            react?: components["schemas"]["Right"];
        };
        Post: {
            id: components["schemas"]["PostID"];
            /**
             * Format: int64
             * @description Unix seconds. Its place in every timeline.
             */
            created_at: number;
            /**
             * Format: int64
             * @description Unix seconds of the last edit; absent where there was none.
             */
            edited_at?: number;
            caption: string;
            /** @description Those given, then the caption's hashtags, as they are written, each once, at most 64. */
            tags?: string[];
            /** @description Absent where there are none. */
            images?: components["schemas"]["PostImagesEntry"][];
            audience: components["schemas"]["PostAudience"];
            /** @description The post, or reply, that this one answers. Absent of what is no reply. */
            reply_to?: components["schemas"]["PostID"];
            /** @description The post that a reply stands under. Absent of what is no reply. */
            root?: components["schemas"]["PostID"];
            mentions?: components["schemas"]["AgentID"][];
            reply: components["schemas"]["Right"];
            react: components["schemas"]["Right"];
            /** @description The system that it came from; absent for posts made here. */
            origin?: string;
            url?: string;
            object_type?: string;
            author: components["schemas"]["PostAuthor"];
            /** Format: int64 */
            likes: number;
            /**
             * Format: int64
             * @description How many replies stand under it. While there are none, what another system has reported. 0 of a reply.
             */
            comments: number;
            /** @description Of a post that is read by itself, what was missing while it was answered; absent when nothing was. */
            degraded?: "social"[];
            in_feed?: components["schemas"]["PostInFeed"];
        };
        /** @description An item, or a post, whose id begins with `post:`. */
        Content: components["schemas"]["Post"] | components["schemas"]["FeedItem"];
        AuthorInfo: {
            id: components["schemas"]["AgentID"];
            name?: string;
            image_url?: string;
            bio?: string;
            /**
             * Format: int64
             * @description Of those that the caller may see, without replies. Of posts that only a circle or a mention lets them see, up to 1,000 of each are looked at.
             */
            posts: number;
            /** Format: int64 */
            followers: number;
            /** Format: int64 */
            following: number;
            /** @description Whether the caller follows them. */
            is_following: boolean;
        };
        AuthorPage: {
            /** @description Newest first; tiles with `view=grid`. */
            items: (components["schemas"]["Post"] | components["schemas"]["Tile"])[];
            /** @description The place of the last post examined, for the next page. Null where there was none. */
            next_cursor: string | null;
            has_more: boolean;
            /** @description What was missing while it was answered, such as `session`; absent when nothing was. */
            degraded?: string[];
        };
        Tile: {
            id: components["schemas"]["PostID"];
            /**
             * Format: int64
             * @description Unix seconds.
             */
            created_at: number;
            /** Format: int64 */
            likes: number;
            /** Format: int64 */
            comments: number;
            thumbnail?: components["schemas"]["TileThumbnail"];
        };
        /** @description Whom the caller blocks. */
        BlockedAuthor: {
            id: components["schemas"]["AgentID"];
            /** @description Always true. */
            is_blocked: boolean;
        };
        Circle: {
            id: components["schemas"]["AgentID"];
            owner: components["schemas"]["AgentID"];
            name?: string;
            /**
             * Format: int64
             * @description How many members it has.
             */
            size: number;
            kind: components["schemas"]["CircleKind"];
            post?: components["schemas"]["CirclePost"];
            history?: components["schemas"]["CircleHistory"];
            members_visible_to?: components["schemas"]["CircleMembersVisibleTo"];
            /**
             * Format: int64
             * @description When an event ends, in Unix seconds.
             */
            until?: number;
        };
        /**
         * @description `circle`: private to its owner; its members are not told about it. `group`: its members know about it. `event`: a group with an end. Fixed when it is made; `circle` where it is left out.
         * @enum {string}
         */
        CircleKind: "circle" | "group" | "event";
        /**
         * @description Who may post to a group or an event. Left out, `members` where it is made; else it stays.
         * @enum {string}
         */
        CirclePost: "owner" | "members";
        /**
         * @description Which posts members of a group or an event see: those since they have joined, or all. Fixed when it is made; `joined` where it is left out.
         * @enum {string}
         */
        CircleHistory: "joined" | "all";
        /**
         * @description Who may list the members of a group or an event. Left out, `owner` where it is made; else it stays.
         * @enum {string}
         */
        CircleMembersVisibleTo: "owner" | "members";
        /** @description Every field may be left out; `{}` is a reader nothing is known of. */
        Profile: {
            /** @description Tags, in any spelling, and how much each matters. The weights of an item's tags add up; of two spellings of one tag the higher counts. */
            interests?: {
                [key: string]: number;
            };
            /**
             * @description Words and phrases that are looked for in title and summary. All
             *     together have at most 1,024 characters. One that is answered as a
             *     string has the weight 1.
             */
            keywords?: components["schemas"]["Keyword"][];
            /** @description Only items in these languages of BCP 47, and items without one. `en` takes `en-US`, `zh-Hans` does not take `zh-Hant`. Empty means all. */
            langs?: components["schemas"]["Term"][];
            /** @description Items of these authors are not shown. */
            muted_authors?: components["schemas"]["Term"][];
            /** @description Items with one of these tags, in any spelling, are not shown. */
            muted_tags?: components["schemas"]["Term"][];
            /**
             * @description Items or groups that are not shown, the latest last. A profile that
             *     is put without this field keeps those that are stored.
             */
            muted_items?: components["schemas"]["ItemID"][];
            /**
             * @description What was learned from the agent's clicks, likes, dislikes and hides on
             *     items that they were shown, what adds most first. It is no part of the
             *     profile: in a profile that is put it is left out.
             */
            readonly learned?: components["schemas"]["Learned"][];
        };
        /**
         * @description A feature of items and what it does to their relevance by the agent's
         *     ranking of now: `score` is added, or `factor` multiplies. Neither is there
         *     where the ranking gives it no weight.
         */
        Learned: {
            /** @enum {string} */
            kind: "tag" | "author" | "lang" | "word";
            value: string;
            /** Format: double */
            score?: number;
            /** Format: double */
            factor?: number;
            /**
             * Format: int64
             * @description How many clicks it was learned from since it is remembered.
             */
            clicks?: number;
            /** Format: int64 */
            likes?: number;
            /** Format: int64 */
            dislikes?: number;
            /** Format: int64 */
            hides?: number;
        };
        Keyword: components["schemas"]["Term"] | components["schemas"]["KeywordObject"];
        Term: string;
        /**
         * @description One piece of content. Any other field is a business field of any type: kept, given
         *     back beside the others, and not searched. Its name has no blank part between dots, is
         *     none of Elasticsearch's own (`_id`, `_source`, …) nor `in_feed` nor
         *     a name that begins with `freshet_`, and lies within no field above (`title.x`).
         */
        Item: {
            id: components["schemas"]["ItemID"];
            /** @description Of several items of one group a reader is shown one. Without it, or with `""`, the id is the group. */
            group_id?: string;
            /** @description Searched for keywords. */
            title: string;
            /**
             * Format: int64
             * @description Unix seconds. The younger, the better; an item of the future appears when its time comes.
             */
            update_time: number;
            /** @description Searched for keywords. */
            summary?: string;
            /** @description With `https://` or `http://`, or without a scheme. */
            url?: string;
            /** @description As `url`. */
            image_url?: string;
            author_id?: string;
            /** @description A language of BCP 47. An item without one passes everywhere. */
            lang?: string;
            tags?: components["schemas"]["Term"][];
            /** Format: int64 */
            likes?: number;
            /**
             * Format: int64
             * @description Counts twice as much as likes, where popularity counts.
             */
            comments?: number;
        } & {
            [key: string]: unknown;
        };
        ItemList: {
            items: components["schemas"]["Item"][];
            /** @description For the next page. Null where this is the last. */
            next_cursor: string | null;
        };
        /** @description Counts of a stored item. Give one of them or both; one that is left out stays. */
        ItemCounts: {
            id: components["schemas"]["ItemID"];
            /** Format: int64 */
            likes?: number;
            /** Format: int64 */
            comments?: number;
        };
        ItemID: string;
        UploadReport: {
            /** Format: int64 */
            accepted: number;
            /**
             * Format: int64
             * @description Of the accepted, the items that a later one with their id has replaced. Absent where it is 0.
             */
            replaced?: number;
            /**
             * Format: int64
             * @description Of the accepted, the items that `if_newer` left out, because a stored one is not older. Absent where it is 0.
             */
            kept?: number;
            /** Format: int64 */
            rejected: number;
            /** @description The first 1,000 that were rejected. */
            errors: components["schemas"]["UploadReportErrorsEntry"][];
        };
        ExplainRequest: {
            agent_id: components["schemas"]["AgentID"];
            /**
             * @default for_you
             * @enum {string}
             */
            feed?: "for_you" | "home";
            /**
             * Format: int64
             * @description Items of the page.
             * @default 20
             */
            limit?: number;
            /** @description Say of this item why it is where it is, candidate or not. */
            item?: components["schemas"]["ItemID"];
            /** @description What to change of the agent's parameters. */
            ranking?: components["schemas"]["RankingChange"];
            /** @description The moment of the refresh; without it, now. */
            at?: components["schemas"]["Moment"];
        };
        Explanation: {
            agent_id: components["schemas"]["AgentID"];
            /** @enum {string} */
            feed: "for_you" | "home";
            /** Format: int64 */
            limit: number;
            /** @description The experiment the agent is in, or `control`. */
            variant: string;
            ranking: components["schemas"]["Ranking"];
            /** @description Whether the parameters came with the call. */
            proposed: boolean;
            /**
             * Format: date-time
             * @description The now of the decay.
             */
            origin: string;
            /** @description Best first; of home source by source, because their scores are not compared. */
            candidates: components["schemas"]["Explained"][];
            /**
             * Format: int64
             * @description Candidates that are counted, but not listed: those behind the first 2,000 that a filter, the pending set or a better item of their group holds back. Absent where all are listed.
             */
            unlisted?: number;
            /** @description The page is not full although recall has more; a tenth of `server.request_timeout` had passed. Absent where not. */
            out_of_time?: boolean;
            item?: components["schemas"]["ExplanationItem"];
            counts: components["schemas"]["ExplanationCounts"];
            times_ms: components["schemas"]["ExplanationTimesMs"];
            /** @description What the refresh would have to do without; as in `POST /v1/feed`. */
            degraded?: ("recall" | "dedup" | "session" | "catalog" | "timeline" | "social" | "following" | "trending" | "discovery" | "promoted")[];
        };
        Explained: components["schemas"]["ExplainedFields"];
        ExplainedFields: {
            /**
             * Format: int64
             * @description From 1, before anything is filtered, and of home in its source; 0 for an item that is no candidate.
             */
            rank: number;
            id: components["schemas"]["ItemID"];
            group: string;
            /** @description The recall source it came from; of home `following`, `trending`, `discovery` or `promoted`. */
            source: string;
            title?: string;
            /** Format: int64 */
            update_time: number;
            /**
             * Format: int64
             * @description Seconds between the item and the origin.
             */
            age: number;
            /**
             * Format: double
             * @description Relevance × decay × popularity. Of what following, trending and promoted propose for home: base × decay × popularity × affinity.
             */
            score: number;
            /** Format: double */
            decay: number;
            /**
             * Format: double
             * @description Of following, trending and promoted alone.
             */
            base?: number;
            affinity?: components["schemas"]["ExplainedFieldsAffinity"];
            relevance?: components["schemas"]["ExplainedFieldsRelevance"];
            popularity?: components["schemas"]["ExplainedFieldsPopularity"];
            /**
             * @description `paged`: on the page. `kept`: for the pages after it. `seen`: this
             *     agent has been given it. `pending`: given out lately. `muted`:
             *     refused by mutes or languages. `gone`: deleted or changed. `group`: a
             *     better item of its group stands in. `same_story`: an item of its page has
             *     nearly the same title, and the session is full without it. `outside`, of home: the
             *     session is full before it. Only of an item that was asked
             *     for: `unknown`, there is none; `own`, by the agent themselves; `future`, its time comes later;
             *     `outside`, behind all that was recalled; `unfound`, not indexed yet.
             * @enum {string}
             */
            outcome: "paged" | "kept" | "seen" | "pending" | "muted" | "gone" | "group" | "same_story" | "unknown" | "own" | "future" | "outside" | "unfound";
            /** @description Of `seen` and with `shown_before`, the day it was given out. */
            day?: string;
            /** @description It was given out on `day` and is shown again, because nothing unseen is left (`dedup.when_exhausted: oldest`). Absent of all others. */
            shown_before?: boolean;
            /** @description Of `group` and `same_story`, the item that stands in; of one that is placed, the item of its page with nearly the same title, for which it was set aside at first. */
            better?: string;
            variety?: components["schemas"]["ExplainedFieldsVariety"];
        };
        /** @description How many items of the page had it in common by then, this one included, and the factor that makes. */
        Nth: {
            name: string;
            /** Format: int64 */
            nth: number;
            /** Format: double */
            factor: number;
        };
        Gain: {
            name: string;
            /** Format: double */
            score: number;
            /** @description Where a keyword stands. In the summary alone it adds a part of its weight (`keywords.summary`). */
            in?: components["schemas"]["KeywordPlace"];
        };
        /** @enum {string} */
        KeywordPlace: "title" | "summary";
        /** @description RFC 3339, or Unix seconds; from 1970 on. */
        Moment: string | number;
        /** @description Score = relevance × decay × popularity. */
        Ranking: {
            decay: components["schemas"]["RankingDecay"];
            popularity: components["schemas"]["RankingPopularity"];
            /**
             * Format: double
             * @description The relevance every item has.
             */
            base: number;
            keywords: components["schemas"]["RankingKeywords"];
            diversity?: components["schemas"]["RankingDiversity"];
            explore?: components["schemas"]["RankingExplore"];
            learned?: components["schemas"]["RankingLearned"];
            home?: components["schemas"]["RankingHome"];
        };
        DiversitySpread: {
            /**
             * Format: double
             * @description 1 turns it off.
             */
            decay?: number;
            /** Format: double */
            floor?: number;
        };
        /** @description Parameters that change; the others stay. */
        RankingChange: {
            decay?: components["schemas"]["RankingChangeDecay"];
            popularity?: components["schemas"]["RankingPopularity"];
            /**
             * Format: double
             * @description The relevance every item has.
             */
            base?: number;
            keywords?: components["schemas"]["RankingKeywords"];
            diversity?: components["schemas"]["RankingDiversity"];
            explore?: components["schemas"]["RankingExplore"];
            learned?: components["schemas"]["RankingLearned"];
            home?: components["schemas"]["RankingHome"];
        };
        /**
         * @description One of Elasticsearch's decay functions times `weight`: 1 up to `offset`,
         *     `decay` at `offset` + `scale`. `exp` with a decay of 0.5 has `scale` as
         *     its half-life; `linear` goes down to 0. A `constant` has a weight only.
         */
        Curve: {
            /** @enum {string} */
            shape: "gauss" | "exp" | "linear" | "constant";
            scale?: components["schemas"]["Duration"];
            offset?: components["schemas"]["Duration"];
            /**
             * Format: double
             * @default 0.5
             */
            decay?: number;
            /**
             * Format: double
             * @description The weights need not sum to 1.
             * @default 1
             */
            weight?: number;
        };
        /** @description What a change did beside what it says, for people. Only where it did. */
        Notes: string[];
        /**
         * @description As Go writes it; days are 24h. A `scale` is 1s at least, an `offset` not negative.
         * @example 90m
         * @example 24h
         * @example 1h30m
         */
        Duration: string;
        RankingVersion: {
            /**
             * Format: int64
             * @description 0 is what the server's configuration says.
             */
            version: number;
            /**
             * Format: date-time
             * @description Since when; version 0 has no date.
             */
            at?: string;
            by: components["schemas"]["ChangedBy"];
            why: components["schemas"]["ChangedWhy"];
            /** @description Of all agents that are in no experiment. */
            ranking: components["schemas"]["Ranking"];
            experiments: components["schemas"]["RankingVersionExperimentsEntry"][];
            notes?: components["schemas"]["Notes"];
        };
        /** @description Anything but `control`, which is everybody else. */
        ExperimentName: string;
        /**
         * Format: double
         * @description The part of all agents, 0 or at least 0.0001. The same agents stay in it as it grows.
         */
        Share: number;
        /** @description Who changed it. */
        ChangedBy: string;
        /** @description What for. */
        ChangedWhy: string;
        Report: {
            from: string;
            to: string;
            /** Format: int64 */
            days: number;
            /** @description What promotions have shown, of all variants together, by id. It is among the figures of the variants. Absent where none has. */
            promotions?: components["schemas"]["ReportPromotionsEntry"][];
            variants: components["schemas"]["ReportVariantsEntry"][];
        };
        Interval: {
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        /**
         * @description What is different from the live ranking, as an object or as a list such
         *     as `scale=72h,offset=2h` of `scale`, `offset`, `decay`, `curves` (JSON, or
         *     the name of a preset), `floor`, `weight` and `base`. Nothing is the live
         *     ranking.
         */
        RankingText: components["schemas"]["RankingChange"] | string;
        Comparison: {
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            k: number;
            a: components["schemas"]["Ranking"];
            b: components["schemas"]["Ranking"];
            notes?: components["schemas"]["Notes"];
            figures: components["schemas"]["ComparisonFigures"];
            per_agent: components["schemas"]["ComparisonPerAgentEntry"][];
            lists?: components["schemas"]["ComparisonLists"];
        };
        /** @description A figure over the agents that have it. */
        Spread: {
            /** Format: int64 */
            n: number;
            /** Format: double */
            mean: number;
            /**
             * Format: double
             * @description Of the sample; 0 with fewer than two.
             */
            sd: number;
            /** Format: double */
            min: number;
            /** Format: double */
            median: number;
            /** Format: double */
            max: number;
        };
        Placed: {
            /** Format: int64 */
            rank: number;
            /**
             * Format: int64
             * @description In the other list; 0 is not within its depth.
             */
            other_rank: number;
            /**
             * @description From A to B. `in` and `out` of what was ranked.
             * @enum {string}
             */
            move: "up" | "down" | "same" | "in" | "out";
            id: components["schemas"]["ItemID"];
            group: string;
            title: string;
            tags?: string[];
            /** Format: int64 */
            update_time: number;
            /**
             * Format: int64
             * @description Seconds.
             */
            age: number;
            /** Format: double */
            score: number;
            /** Format: double */
            relevance: number;
            /** Format: double */
            decay: number;
            /**
             * Format: double
             * @description The factor.
             */
            popularity: number;
            matched_tags: components["schemas"]["Gain"][];
            matched_keywords: components["schemas"]["Gain"][];
        };
        /** @description An item or a post that is promoted for a time. */
        Promotion: {
            id: components["schemas"]["AgentID"];
            item_id: components["schemas"]["ItemID"];
            /**
             * Format: int64
             * @description The first second in which it runs, Unix.
             */
            from: number;
            /**
             * Format: int64
             * @description The second at which it has ended, Unix.
             */
            until: number;
            /**
             * Format: double
             * @description How often it is chosen, relative to the others that run and are for the reader.
             */
            weight: number;
            /** @description It is for readers who are interested in any of them, by their profile or by what was learned. Absent, for everybody. */
            tags?: string[];
            /** @description It is for readers whose profile names any of these languages. Absent, for everybody. */
            langs?: string[];
            /** @description It is among those that are chosen from. */
            runs: boolean;
            /** @description Why it does not run. Absent where it does. */
            why?: string;
        };
        /**
         * @description What is derived.
         * @enum {string}
         */
        JobKind: "deliver" | "index" | "count" | "pair" | "member" | "author" | "erase" | "images" | "suggest";
        /**
         * @description Where a job is. `failed` will be tried again, `dead` will not.
         * @enum {string}
         */
        JobState: "pending" | "running" | "completed" | "failed" | "dead";
        /** @description That something derived may differ from what it is derived from. */
        Job: {
            /** Format: int64 */
            id: number;
            kind: components["schemas"]["JobKind"];
            /** @description The post, the agent, or two ids with a slash between them. */
            key: string;
            /**
             * Format: int64
             * @description How often it became dirty.
             */
            generation: number;
            /**
             * Format: int64
             * @description The least goes first.
             */
            priority: number;
            state: components["schemas"]["JobState"];
            /**
             * Format: date-time
             * @description Since when it should run.
             */
            due: string;
            /**
             * Format: date-time
             * @description It runs not before.
             */
            run_at: string;
            /** Format: int64 */
            attempts: number;
            /** @description Of the last attempt. */
            error?: string;
            /**
             * Format: date-time
             * @description Of one that runs.
             */
            leased_until?: string;
            /**
             * Format: date-time
             * @description Of one that is completed or dead.
             */
            finished_at?: string;
        };
        /** @description The whole queue. */
        JobQueue: {
            /** @description How many there are, by kind and state. Completed ones are not counted. */
            rows: components["schemas"]["JobQueueRowsEntry"][];
            /**
             * Format: double
             * @description How long the job that has waited longest should have been done.
             */
            oldest_seconds: number;
        };
        Readiness: {
            /**
             * Format: int64
             * @enum {integer}
             */
            code: 0 | 50301;
            msg: string;
            data: components["schemas"]["ReadinessData"];
        };
        Error: {
            /**
             * Format: int64
             * @description What went wrong, for programs. 40001: the body, or a header such as `If-Match` where no route honours it. 40002: the action.
             *     40003: the limit. 40004: an id. 40101: not authenticated. 40301: not allowed.
             *     40401: nothing there. 40501: not this method. 40901: the request id, or
             *     key, belongs to another call. 41201: not the current version. 41301: too
             *     large. 41501: not a type that can be taken. 41601: no such range. 42201: a
             *     post or an image that breaks a rule. 42202: as many as there may be. 42901: too often. 50001: a fault. 50301: not now.
             * @enum {integer}
             */
            code: 40001 | 40002 | 40003 | 40004 | 40101 | 40301 | 40401 | 40501 | 40901 | 41201 | 41301 | 41501 | 41601 | 42201 | 42202 | 42901 | 50001 | 50301;
            /** @description What went wrong, for people. */
            msg: string;
            /** @description What was done nevertheless. Of uploads only. */
            data?: components["schemas"]["UploadReport"];
        };
        AgentID: string;
        /** @description What is about the reader. Absent where there is nothing to say. */
        FeedItemInFeed: {
            /**
             * @description What gave it its position. Absent of those that are there for their scores. `explore`: it was drawn at random. Of home: `following`, `trending`, `discovery` or `promoted`. There will be more: skip those you do not know.
             * @enum {string}
             */
            source?: "explore" | "following" | "trending" | "discovery" | "promoted";
            /**
             * @description Of home: how much it is liked and commented for its age, as of the trending set. `hot`: above 5. `warm`: above 2. Absent below.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            /** @description Its source is `promoted`. Absent of all others. */
            is_promoted?: boolean;
            /** @description The reader was given it before, within `dedup.window_days`, and is again because nothing unseen was left (`dedup.when_exhausted: oldest`). Absent of what is unseen. */
            shown_before?: boolean;
            why?: components["schemas"]["Reasons"];
        };
        ReasonsEntry: {
            /**
             * @description `interest`: the tag `value` of the item is an interest of the
             *     reader. `keyword`: their keyword `value` stands in it. `fresh`: its
             *     decay factor is at least 1.5 times that of an item a day old, and
             *     at least half of a new item's. `learned`: the reader has clicked or
             *     liked items that have `value` in common with it. `popular`: its popularity factor is
             *     at least 1.5. `explore`: it was drawn at random for its position; it
             *     comes first. There will be more types: skip those you do not know.
             * @example interest
             * @example keyword
             * @example learned
             * @example fresh
             * @example popular
             * @example explore
             */
            type: string;
            /** @description The tag or the keyword, as it stands in the reader's profile, or what was learned. */
            value?: string;
            /**
             * @description With `learned`, what `value` is.
             * @enum {string}
             */
            kind?: "tag" | "author" | "lang" | "word";
        };
        /** @description Of a post. */
        GuestEntryAuthor: {
            id: components["schemas"]["AgentID"];
            name: string;
            image_url: string;
        };
        GuestEntryInFeed: {
            /**
             * @description What brought it: `discovery` stands for the newest.
             * @enum {string}
             */
            source: "trending" | "promoted" | "discovery";
            /**
             * @description `hot`: above 5. `warm`: above 2. Absent below.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            is_promoted?: boolean;
        };
        NewPostImagesEntry: {
            alt?: string;
        };
        /** @description Who may see the post, beside its author and whom it mentions. Left out, everybody. */
        NewPostAudience: {
            public?: boolean;
            followers?: boolean;
            /** @description Circles of the author's, and groups and events that they are in. */
            circles?: components["schemas"]["AgentID"][];
        };
        PostImagesEntry: {
            /** @description A path of this server, `/media/{key}`. */
            url: string;
            /** @description Likewise; its longer side has 320 pixels at most. */
            thumbnail: string;
            /**
             * Format: int64
             * @description Pixels.
             */
            width: number;
            /** Format: int64 */
            height: number;
            /** @description What to show until the image is there, as `#rrggbb`. */
            color: string;
            /** @description What can be seen, for who cannot see it; "" where it is not said. */
            alt: string;
        };
        /** @description How far the post goes; empty of a reply. Circles are its author's affair and not told. */
        PostAudience: {
            public?: boolean;
            followers?: boolean;
        };
        PostAuthor: {
            id: components["schemas"]["AgentID"];
            /** @description "" where they have not said. */
            name: string;
            image_url: string;
        };
        /** @description What is about the reader. Absent where the call names none. */
        PostInFeed: {
            /**
             * @description What brought the post to the reader: `following` is their
             *     timeline, `discovery` the feed's recall, `explore` the part of a
             *     feed's positions that items are drawn for at random, `trending` and
             *     `promoted` are home's. Absent where it was asked
             *     for by itself and is not in their timeline.
             * @enum {string}
             */
            source?: "following" | "discovery" | "explore" | "trending" | "promoted";
            /**
             * @description In home, how much it is liked and commented for its age. `hot`, above 5, or `warm`, above 2; else absent.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            /**
             * @description Why it is in their timeline; absent where it is not. `self`: it is theirs. `follow`: they
             *     follow its author. `domain`: it is public and they follow
             *     `@server`. `audience`: they are in a circle it is for. `mention`:
             *     it mentions them.
             * @enum {string}
             */
            reason?: "self" | "follow" | "domain" | "audience" | "mention";
            has_liked: boolean;
            can_reply: boolean;
            can_react: boolean;
            /** @description Its source is `promoted`. */
            is_promoted: boolean;
            /** @description In a feed, that the reader was given it before and is again because nothing unseen was left. Else absent. */
            shown_before?: boolean;
            why?: components["schemas"]["Reasons"];
        };
        /** @description Of the first image; absent where there is none. */
        TileThumbnail: {
            /** @description A path of this server, `/media/{key}`. */
            url: string;
            /**
             * Format: int64
             * @description Pixels of the image, of which the thumbnail has the proportions.
             */
            width: number;
            /** Format: int64 */
            height: number;
            /** @description What to show until the thumbnail is there, as `#rrggbb`. */
            color: string;
        };
        KeywordObject: {
            term: components["schemas"]["Term"];
            /**
             * Format: double
             * @description What an item gains where the keyword stands in its title. 0 is as
             *     if the keyword were not there.
             * @default 1
             */
            weight?: number;
        };
        UploadReportErrorsEntry: {
            /**
             * Format: int64
             * @description The line, or of items the element of the array, from 1.
             */
            line: number;
            /** @description Where it could be read. */
            id?: string;
            reason: string;
        };
        /** @description The item that was asked for. */
        ExplanationItem: {
            /** @description Why it is where it is, for people. */
            reason: string;
            /** @description What each curve of the ranking adds to the decay, in their order; not with one Gaussian. */
            curves?: number[];
        } & components["schemas"]["ExplainedFields"];
        /** @description How many candidates came to what. */
        ExplanationCounts: {
            /**
             * Format: int64
             * @description How often recall was asked.
             */
            rounds: number;
            /**
             * Format: int64
             * @description All candidates; the following sum up to them.
             */
            recalled: number;
            /** Format: int64 */
            seen: number;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            muted: number;
            /** Format: int64 */
            gone: number;
            /** Format: int64 */
            group: number;
            /** Format: int64 */
            same_story: number;
            /**
             * Format: int64
             * @description Of home.
             */
            outside: number;
            /** Format: int64 */
            paged: number;
            /** Format: int64 */
            kept: number;
        };
        /** @description Milliseconds of each stage. `factors` is what only an explanation asks. */
        ExplanationTimesMs: {
            /** Format: double */
            profile: number;
            /** Format: double */
            recall: number;
            /** Format: double */
            dedup: number;
            /** Format: double */
            hydrate: number;
            /** Format: double */
            factors: number;
            /** Format: double */
            total: number;
        };
        /** @description Of following, trending and promoted alone. `n` is likes + replies + 0.2 × clicks, see `home` of a ranking. */
        ExplainedFieldsAffinity: {
            /** Format: double */
            n: number;
            /** Format: double */
            factor: number;
        };
        /** @description `base`, what each matching interest and keyword adds, and what was learned: scores that are added, factors that multiply the sum. */
        ExplainedFieldsRelevance: {
            /** Format: double */
            total: number;
            /** Format: double */
            base: number;
            tags?: components["schemas"]["Gain"][];
            keywords?: components["schemas"]["Gain"][];
            learned?: components["schemas"]["Learned"][];
        };
        /** @description Each counts half after the half-life. `adds` is the part of the factor that they make. */
        ExplainedFieldsPopularityReaders2h: {
            /** Format: double */
            count: number;
            /** Format: double */
            adds: number;
        };
        /**
         * @description Likes + 2 × comments, the readers who clicked or liked the item of late,
         *     where there are any, and the factor that they make.
         */
        ExplainedFieldsPopularity: {
            /** Format: double */
            value: number;
            /** Format: double */
            factor: number;
            readers_2h?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_2d?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
        };
        /** @description Where it is placed, and by what factor its score counted there. Absent for what is not placed. */
        ExplainedFieldsVariety: {
            /**
             * Format: int64
             * @description In the list that pages are taken from.
             */
            place: number;
            /**
             * Format: int64
             * @description Of those built in advance.
             */
            page: number;
            /**
             * @description `explore` where it was drawn at random for its position, absent where its score brought it. Of home the source that fills the position.
             * @enum {string}
             */
            source?: "explore" | "following" | "trending" | "discovery" | "promoted";
            /**
             * @description Of home, the source whose position it is by the pattern.
             * @enum {string}
             */
            right?: "following" | "trending" | "discovery" | "promoted";
            /**
             * Format: double
             * @description The product of those below.
             */
            factor: number;
            author?: components["schemas"]["Nth"];
            site?: components["schemas"]["Nth"];
            tag?: components["schemas"]["Nth"];
        };
        /**
         * @description One Gaussian of `scale`, `offset` and `decay`: 1 up to `offset`, `decay` at
         *     `offset` + `scale`. Or the sum of `curves`. Never below `floor`.
         */
        RankingDecay: {
            scale?: components["schemas"]["Duration"];
            offset?: components["schemas"]["Duration"];
            /** Format: double */
            decay?: number;
            curves?: components["schemas"]["Curve"][];
            /** Format: double */
            floor: number;
        };
        /**
         * @description The factor is 1 + `weight` × log10(1 + likes + 2 × comments)
         *     + `weight_2h` × log10(1 + readers) + `weight_2d` × log10(1 + readers): those
         *     who clicked or liked the item, counting half after 2 hours, or 2 days.
         *     The last two have no effect in an Elasticsearch index without fields for them.
         */
        RankingPopularity: {
            /** Format: double */
            weight?: number;
            /** Format: double */
            weight_2h?: number;
            /** Format: double */
            weight_2d?: number;
        };
        /** @description What keywords add. */
        RankingKeywords: {
            /**
             * Format: double
             * @description The part of its weight that a keyword adds where it stands in the summary alone.
             */
            summary?: number;
        };
        /**
         * @description How pages are built: the n-th item of a page by one author, of one
         *     `site` (the host of its `url`, without `www.`) or with the same first
         *     tag counts max(`floor`, `decay`^(n−1)) times its score. Absent from a
         *     ranking that was stored before there was diversity: off.
         */
        RankingDiversity: {
            author?: components["schemas"]["DiversitySpread"];
            site?: components["schemas"]["DiversitySpread"];
            tag?: components["schemas"]["DiversitySpread"];
            /**
             * Format: double
             * @description Two titles of a page that share at least this part of their words tell one story: the second is left out of the session. 0 and 1 turn it off.
             */
            same_story?: number;
        };
        /** @description Absent from a ranking that was stored before there was exploration, which is off. */
        RankingExplore: {
            /**
             * Format: double
             * @description Part of a page's positions below the fifth that goes to young items drawn at random. 0 turns it off.
             */
            share?: number;
        };
        /**
         * @description How much counts what was learned of the reader. Absent from a ranking that
         *     was stored before anything was learned: off.
         */
        RankingLearned: {
            /**
             * Format: double
             * @description What much evidence for a tag adds to the relevance, as a share of `base`. 0 turns it off, evidence against tags included.
             */
            tags?: number;
            /**
             * Format: double
             * @description What much evidence for a tag adds to the relevance, as a share of `base`. 0 turns it off, evidence against tags included.
             */
            author?: number;
            /**
             * Format: double
             * @description What much evidence for a tag adds to the relevance, as a share of `base`. 0 turns it off, evidence against tags included.
             */
            lang?: number;
            /**
             * Format: double
             * @description What much evidence for a tag adds to the relevance, as a share of `base`. 0 turns it off, evidence against tags included.
             */
            words?: number;
            /**
             * Format: double
             * @description The part of the relevance that much evidence against a tag, author, language or word takes away.
             */
            negative?: number;
            /** @description After which time an act counts half; 1h to 87600h. */
            half_life?: components["schemas"]["Duration"];
        };
        /**
         * @description How the sources of home score what they propose: base ×
         *     e^(−`decay` × hours old) × (1 + log10(likes + 2·comments + 1)) ×
         *     (1 + `affinity` × n / (n + 5)), with n the reader's likes of the author's
         *     posts and replies under them in `affinity_days`, and 0.2 for each click. Absent from a ranking that was stored
         *     before there was a home.
         */
        RankingHome: {
            /** Format: double */
            decay?: number;
            /**
             * Format: double
             * @description The base.
             */
            following?: number;
            /**
             * Format: double
             * @description The base.
             */
            trending?: number;
            /**
             * Format: double
             * @description The base.
             */
            promoted?: number;
            /**
             * Format: double
             * @description 0 turns it off.
             */
            affinity?: number;
            /**
             * Format: double
             * @description Days for which a like or a reply counts.
             */
            affinity_days?: number;
        };
        /**
         * @description `scale`, `offset` and `decay` replace curves by one Gaussian, with
         *     24h, 1h and 0.5 for those that are not there; `notes` in the answer
         *     says so. `curves` replaces the Gaussian. They exclude each other.
         */
        RankingChangeDecay: {
            scale?: components["schemas"]["Duration"];
            offset?: components["schemas"]["Duration"];
            /** Format: double */
            decay?: number;
            /**
             * @description Up to four curves that are added; none is the one Gaussian. Or
             *     the name of a preset, floor included: `single` is one Gaussian
             *     over a day, `two` a fast curve and a slow one.
             */
            curves?: components["schemas"]["Curve"][] | ("single" | "two");
            /** Format: double */
            floor?: number;
        };
        RankingVersionExperimentsEntry: {
            name: components["schemas"]["ExperimentName"];
            share: components["schemas"]["Share"];
            ranking: components["schemas"]["Ranking"];
        };
        ReportPromotionsEntry: {
            id: components["schemas"]["AgentID"];
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description Of 95 %, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
            /** Format: int64 */
            likes: number;
        };
        /** @description Of these impressions and clicks, those of positions that exploration gave. Absent where there are none. */
        ReportVariantsEntryExplored: {
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description Of 95 %, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
        };
        ReportVariantsEntrySourcesEntry: {
            /** @enum {string} */
            source: "following" | "trending" | "discovery" | "promoted";
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description Of 95 %, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
        };
        /** @description From control; null for control itself. */
        ReportVariantsEntryDifference: {
            /**
             * Format: double
             * @description The variant's rate less control's.
             */
            ctr: number;
            /** @description Of 95 %, by Newcombe. */
            interval: components["schemas"]["Interval"];
            /**
             * Format: double
             * @description Two-sided; null with too few.
             */
            p: number | null;
            /** @enum {string} */
            verdict: "significant" | "not significant" | "too few";
        } | null;
        ReportVariantsEntry: {
            name: string;
            /** @description Whether agents are in it now. */
            live: boolean;
            /** Format: double */
            share: number;
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /**
             * Format: double
             * @description Clicks for each impression.
             */
            ctr: number;
            /** @description Of 95 %, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
            /** Format: int64 */
            likes: number;
            /** Format: int64 */
            dislikes: number;
            /** Format: int64 */
            hides: number;
            /**
             * Format: double
             * @description Of what was shown, within 9.1 %; null where nothing was.
             */
            median_age_seconds: number | null;
            /**
             * Format: int64
             * @description Different ones, within about 1 %.
             */
            authors: number;
            /**
             * Format: int64
             * @description Different ones, within about 1 %.
             */
            agents: number;
            explored?: components["schemas"]["ReportVariantsEntryExplored"];
            /** @description Of these impressions and clicks, those of home, by the source that gave the position. Those that have shown nothing are left out; absent where none has. */
            sources?: components["schemas"]["ReportVariantsEntrySourcesEntry"][];
            difference: components["schemas"]["ReportVariantsEntryDifference"];
        };
        /** @description Over all agents. */
        ComparisonFigures: {
            /** Format: int64 */
            agents: number;
            /**
             * Format: int64
             * @description Agents for whom neither ranking has an item. They are in none of the figures.
             */
            empty: number;
            overlap: components["schemas"]["Spread"];
            rbo: components["schemas"]["Spread"];
            kendall_tau: components["schemas"]["Spread"];
            new_share: components["schemas"]["Spread"];
            median_age_a: components["schemas"]["Spread"];
            median_age_b: components["schemas"]["Spread"];
            tag_coverage_a: components["schemas"]["Spread"];
            tag_coverage_b: components["schemas"]["Spread"];
        };
        ComparisonPerAgentEntry: {
            agent_id: components["schemas"]["AgentID"];
            /** Format: int64 */
            items_a: number;
            /** Format: int64 */
            items_b: number;
            /**
             * Format: double
             * @description The share of items in both lists.
             */
            overlap: number;
            /**
             * Format: double
             * @description Rank-biased overlap, with p = 0.9.
             */
            rbo: number;
            /**
             * Format: double
             * @description How far the order agrees, -1 to 1; null where it does not exist.
             */
            kendall_tau: number | null;
            /**
             * Format: double
             * @description The share of B that is not in A.
             */
            new_share: number;
            /**
             * Format: double
             * @description Seconds.
             */
            median_age_a: number | null;
            /**
             * Format: double
             * @description Seconds.
             */
            median_age_b: number | null;
            /**
             * Format: double
             * @description The share of the agent's interests that the list has.
             */
            tag_coverage_a: number | null;
            /**
             * Format: double
             * @description The share of the agent's interests that the list has.
             */
            tag_coverage_b: number | null;
        };
        ComparisonLists: {
            agent_id: components["schemas"]["AgentID"];
            /**
             * Format: int64
             * @description How far ranks in the other list are known.
             */
            depth: number;
            a: components["schemas"]["Placed"][];
            b: components["schemas"]["Placed"][];
        };
        JobQueueRowsEntry: {
            kind: components["schemas"]["JobKind"];
            state: components["schemas"]["JobState"];
            /** Format: int64 */
            count: number;
        };
        ReadinessDataDependenciesValue: {
            /** @enum {string} */
            state: "up" | "degraded" | "down";
            optional?: boolean;
            /**
             * Format: int64
             * @description It is down, and what the server has kept stands in for it for so long (`degraded` only).
             */
            seconds_left?: number;
            /** @description Why it is down. The server's log says more. */
            error?: string;
            /** @description What is wrong with it though it is up, as a clock that differs from the server's by more than a second. */
            warning?: string;
        };
        ReadinessData: {
            /** @description By name. */
            dependencies: {
                [key: string]: components["schemas"]["ReadinessDataDependenciesValue"];
            };
        };
        PostsAnswerData: {
            /** @description Newest first, but for replies with `order=oldest`. */
            items: components["schemas"]["Post"][];
            /** @description The place of the last post examined, for the next page. Null where there was none. */
            next_cursor: string | null;
            has_more: boolean;
            /** @description Of a timeline that is empty, whether its reader is new, as feeds say it; absent otherwise. */
            new_reader?: boolean;
            /** @description What was missing while it was answered, such as `timeline`, `session` or `social`; absent when nothing was. */
            degraded?: string[];
        };
        PostsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostsAnswerData"];
        };
        LikesAnswerData: {
            /** Format: int64 */
            likes: number;
            /** @description Whether the caller likes it now. */
            has_liked: boolean;
        };
        LikesAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["LikesAnswerData"];
        };
        AgentsAnswerData: {
            agents: components["schemas"]["AgentID"][];
            /** @description For the next page. Null where this is the last. */
            next_after: string | null;
        };
        AgentsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AgentsAnswerData"];
        };
        CircleAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Circle"];
        };
        ProfileAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Profile"];
        };
        RankingVersionAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["RankingVersion"];
        };
        PromotionAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Promotion"];
        };
        DoneAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: Record<string, never>;
        };
        ChangedAnswerData: {
            changed: boolean;
        };
        ChangedAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ChangedAnswerData"];
        };
        PostImpressionsRequest: {
            /** @description The items, in any order. */
            ids: components["schemas"]["ItemID"][];
        };
        PostImpressionsAnswerData: {
            /**
             * Format: int64
             * @description How many ids were taken.
             */
            recorded: number;
        };
        PostImpressionsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostImpressionsAnswerData"];
        };
        GetGuestFeedAnswerData: {
            /** @description The items and posts, best first. */
            items: components["schemas"]["GuestEntry"][];
            /**
             * @description What the answer had to do without. `trending`: what is
             *     trending is more than an hour old. `catalog`: some
             *     items could not be read and are as they were, ten
             *     minutes ago at most, or missing. `social`: the social
             *     store could not be asked; posts are as they were kept,
             *     an hour old at most, or missing. `promoted`: nothing
             *     promoted is in it. `recall`: the newest could not be
             *     asked for.
             */
            degraded?: ("trending" | "catalog" | "social" | "promoted" | "recall")[];
        };
        GetGuestFeedAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetGuestFeedAnswerData"];
        };
        PostEventsRequestObject: {
            events: components["schemas"]["Event"][];
        };
        PostEventsAnswerData: {
            /**
             * Format: int64
             * @description Of items the reader was shown. Each counts once a day; in the report, those on posts only where the feed has shown the post, not a timeline alone.
             */
            accepted: number;
            /**
             * Format: int64
             * @description Of items the reader was not shown. They do not count.
             */
            not_shown: number;
        };
        PostEventsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostEventsAnswerData"];
        };
        CreatePostRequest: {
            post: components["schemas"]["NewPost"];
            image?: string[];
        };
        CreatePostAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Post"];
        };
        EditPostRequest: {
            caption?: string;
            tags?: components["schemas"]["Term"][];
            /** @description One alt text for each image, in order; "" for none. */
            alts?: string[];
        };
        EditPostAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Post"] | components["schemas"]["NoData"];
        };
        GetAuthorAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AuthorInfo"] | components["schemas"]["BlockedAuthor"];
        };
        PutAuthorRequest: {
            name?: string;
            /** @description With `https://` or `http://`, or without a scheme. */
            image_url?: string;
            bio?: string;
        };
        PutAuthorAnswerData: {
            id: components["schemas"]["AgentID"];
            name?: string;
            image_url?: string;
            bio?: string;
        };
        PutAuthorAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PutAuthorAnswerData"];
        };
        GetAuthorPostsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AuthorPage"];
        };
        FollowManyRequest: {
            authors: components["schemas"]["AgentID"][];
        };
        FollowManyAnswerDataRefusedEntry: {
            author: components["schemas"]["AgentID"];
            /**
             * Format: int64
             * @description The error code that `PUT` answers for this author.
             */
            code: number;
            msg: string;
        };
        FollowManyAnswerData: {
            /**
             * Format: int64
             * @description How many of them were not followed before.
             */
            changed: number;
            /** @description Who could not be followed, such as one who blocks the agent; empty where all are. */
            refused: components["schemas"]["FollowManyAnswerDataRefusedEntry"][];
        };
        FollowManyAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["FollowManyAnswerData"];
        };
        GetSuggestionsAnswerDataAuthorsEntry: {
            author: components["schemas"]["AgentID"];
            /** @enum {string} */
            reason: "followed_by" | "popular";
            /**
             * Format: int64
             * @description With `followed_by`, how many of those whom the agent follows follow the author, rounded down to 3, 5, 10 or 20.
             */
            count?: number;
        };
        GetSuggestionsAnswerData: {
            authors: components["schemas"]["GetSuggestionsAnswerDataAuthorsEntry"][];
        };
        GetSuggestionsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetSuggestionsAnswerData"];
        };
        GetCirclesAnswerData: {
            circles: components["schemas"]["Circle"][];
            /** @description For the next page. Null where this is the last. */
            next_after: string | null;
        };
        GetCirclesAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetCirclesAnswerData"];
        };
        PutCircleRequest: {
            /** @description Left out, the circle has no name. */
            name?: string;
            /** @description Whose it is. An agent need not say so; `""` says nothing. */
            owner?: string;
            /** @description They replace those that there are. Left out, they stay. */
            members?: components["schemas"]["AgentID"][];
            kind?: components["schemas"]["CircleKind"];
            post?: components["schemas"]["CirclePost"];
            history?: components["schemas"]["CircleHistory"];
            members_visible_to?: components["schemas"]["CircleMembersVisibleTo"];
            until?: components["schemas"]["Moment"];
        };
        PostGraphEventsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        GetItemsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ItemList"];
        };
        PostItemsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        PostItemCountsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        GetItemAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Content"];
        };
        PatchItemAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Content"];
        };
        PostExplainAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Explanation"];
        };
        PutRankingRequestExperimentsEntry: {
            name: components["schemas"]["ExperimentName"];
            share: components["schemas"]["Share"];
            /** @description What is different from the parameters it has, or from the live ones if it is new. */
            ranking?: components["schemas"]["RankingChange"];
        };
        PutRankingRequest: {
            ranking?: components["schemas"]["RankingChange"];
            /** @description All that shall run; the shares sum to 1 at most. `[]` ends all. */
            experiments?: components["schemas"]["PutRankingRequestExperimentsEntry"][];
            by?: components["schemas"]["ChangedBy"];
            why?: components["schemas"]["ChangedWhy"];
        };
        GetRankingHistoryAnswerData: {
            versions: components["schemas"]["RankingVersion"][];
        };
        GetRankingHistoryAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetRankingHistoryAnswerData"];
        };
        RevertRankingRequest: {
            /**
             * Format: int64
             * @description Which to go back to; 0 is the configuration.
             */
            version: number;
            by?: components["schemas"]["ChangedBy"];
            why?: components["schemas"]["ChangedWhy"];
        };
        GetReportAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Report"];
        };
        PostCompareRequest: {
            a?: components["schemas"]["RankingText"];
            b?: components["schemas"]["RankingText"];
            /** @description For whom. Either this or `sample`. */
            agents?: components["schemas"]["AgentID"][];
            /**
             * Format: int64
             * @description How many agents to draw of those that have a profile.
             */
            sample?: number;
            /**
             * Format: int64
             * @description The same seed draws the same agents.
             */
            seed?: number;
            /** @description The moment; without it, now. */
            at?: components["schemas"]["Moment"];
            /**
             * Format: int64
             * @description How many of each list are compared.
             * @default 20
             */
            k?: number;
            /**
             * @description Answer the two lists, too. For one agent.
             * @default false
             */
            lists?: boolean;
        };
        PostCompareAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Comparison"];
        };
        PostReplayRequestClicksEntry: {
            agent_id: components["schemas"]["AgentID"];
            id: components["schemas"]["ItemID"];
            at: components["schemas"]["Moment"];
        };
        PostReplayRequest: {
            clicks: components["schemas"]["PostReplayRequestClicksEntry"][];
            rankings: components["schemas"]["RankingText"][];
            /**
             * Format: int64
             * @description How far to rank.
             * @default 500
             */
            depth?: number;
        };
        PostReplayAnswerDataOutcomesEntry: {
            /**
             * @description `ranked` by one ranking at least; `unranked` by
             *     any; `gone` from the catalog; `later`: its date
             *     is after the click by now; `refused` by the
             *     agent's mutes by now.
             * @enum {string}
             */
            state: "ranked" | "unranked" | "gone" | "later" | "refused";
            /** @description By each ranking, from 1; 0 is not ranked. */
            ranks: number[];
        };
        PostReplayAnswerData: {
            /** @description What was asked for, written out. */
            rankings: components["schemas"]["Ranking"][];
            notes?: components["schemas"]["Notes"];
            /** Format: int64 */
            depth: number;
            outcomes: components["schemas"]["PostReplayAnswerDataOutcomesEntry"][];
        };
        PostReplayAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostReplayAnswerData"];
        };
        GetPromotionsAnswerData: {
            promotions: components["schemas"]["Promotion"][];
            /** @description For the next page. Null where this is the last. */
            next_after: string | null;
        };
        GetPromotionsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetPromotionsAnswerData"];
        };
        PutPromotionRequest: {
            item_id: components["schemas"]["ItemID"];
            from: components["schemas"]["Moment"];
            until: components["schemas"]["Moment"];
            /**
             * Format: double
             * @default 1
             */
            weight?: number;
            tags?: string[];
            langs?: string[];
        };
        GetJobsAnswerData: {
            jobs: components["schemas"]["Job"][];
            /**
             * Format: int64
             * @description For the next page. Null where this is the last.
             */
            next_after: number | null;
            queue: components["schemas"]["JobQueue"];
        };
        GetJobsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetJobsAnswerData"];
        };
        PostJobsRequest: {
            post: components["schemas"]["PostID"];
        };
        PostJobsAnswerData: {
            kinds: components["schemas"]["JobKind"][];
            key: string;
        };
        PostJobsAnswer: {
            /**
             * Format: int64
             * @constant
             */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostJobsAnswerData"];
        };
        OpenapiAnswer: {
            /** @constant */
            openapi: "3.1.0";
            info: Record<string, never>;
            paths: Record<string, never>;
            components: Record<string, never>;
        };
    };
    responses: {
        /** @description A page. */
        Posts: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PostsAnswer"];
            };
        };
        /** @description The cursor, the limit or an id is wrong and stays so. */
        BadPage: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The post as the caller sees it. */
        Post: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CreatePostAnswer"];
            };
        };
        /** @description The likes of the post now. */
        Likes: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["LikesAnswer"];
            };
        };
        /** @description The post breaks a rule, which the message names. */
        BadPost: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A page of the list, by id as bytes. */
        Agents: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AgentsAnswer"];
            };
        };
        /** @description A parameter or an id is wrong and stays so. */
        BadList: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There are as many as there may be. */
        Limit: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The circle as it is stored. */
        Circle: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CircleAnswer"];
            };
        };
        /** @description Another profile is stored than that of `If-Match`, or none. Read it, then change it again. */
        ProfileChanged: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There are as many as there may be. */
        MostMuted: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The profile as it is stored. When it is read, what was learned stands beside it. */
        Profile: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ProfileAnswer"];
            };
        };
        /** @description The body, the limit or an id is wrong and stays so. */
        BadBodyLimitOrID: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The version that is in force now. */
        RankingVersion: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RankingVersionAnswer"];
            };
        };
        /** @description Another version than the one in `If-Match` is the newest. Read it, then decide again. */
        NotCurrent: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The promotion as it is stored. */
        Promotion: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PromotionAnswer"];
            };
        };
        /** @description Done. There is nothing to tell. */
        Done: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DoneAnswer"];
            };
        };
        /** @description Done. `changed` is false where it was so before. */
        Changed: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ChangedAnswer"];
            };
        };
        /** @description What the client has is current. */
        NotModified: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The call is wrong and stays so. */
        BadFeed: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is wrong and stays so. */
        BadBody: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The id in the path, or that of the caller, cannot be one. */
        BadID: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, a header or an id is wrong and stays so. */
        BadBodyOrID: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Who calls is not known. */
        Unauthenticated: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                /** @description How to say who calls. Where `auth.mode` is `header` it is how admins do. */
                "WWW-Authenticate"?: "Bearer";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Who calls is known and may not. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is nothing under this id. */
        NotFound: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request id belongs to another call. */
        Conflict: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is larger than the route takes. */
        TooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is of a type that is not JSON. */
        WrongType: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description This agent calls more often than `server.rate_limit` allows. */
        TooManyRequests: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A fault of the server. Its log has the cause under the call's X-Request-ID. */
        Internal: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The server is busy, or something that this call needs is down. Try again later. */
        Unavailable: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /**
         * @description The `next_cursor` of an earlier answer, `<post id>:<Unix seconds>`: posts
         *     below that place, or beyond it in the order asked for. It stays good when its post is deleted.
         * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
         */
        Cursor: string;
        /** @description Posts of a page. */
        PageLimit: number;
        /**
         * @description The post's id.
         * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
         */
        PostID: components["schemas"]["PostID"];
        /**
         * @description Whose. An agent may name itself only.
         * @example u_10086
         */
        Agent: components["schemas"]["AgentID"];
        /**
         * @description The `next_after` of an earlier answer. Without it the list begins.
         * @example u_77
         */
        After: components["schemas"]["AgentID"];
        /** @description Agents of a page. */
        ListLimit: number;
        /**
         * @description The `ETag` of the profile that is to be changed, or `*` for any, as long as there
         *     is one. Without it whichever is stored is changed.
         * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
         */
        IfProfileMatch: string;
        /**
         * @description The `ETag` of the version that is to be changed; `*` or nothing is whichever is the newest.
         * @example "3"
         */
        IfMatch: string;
        /**
         * @description A name for this call in the server's log and in the answer: up to 128
         *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
         *     has nothing to do with `request_id`.
         */
        CallID: string;
        /** @description The `ETag` of what the client has. */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /** @description The name of this call in the server's log. */
        CallID: string;
        /** @description How many seconds to wait before trying again. */
        RetryAfter: number;
        /** @description The version of what was answered. */
        ETag: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    postFeed: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description Another place for `request_id`. Where both are given they must be equal. */
                "Idempotency-Key"?: components["schemas"]["RequestID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 4 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedRequest"];
            };
        };
        responses: {
            /** @description A page. It is empty only where there is nothing unseen left. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAnswer"];
                };
            };
            400: components["responses"]["BadFeed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postImpressions: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 256 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostImpressionsRequest"];
            };
        };
        responses: {
            /** @description They will not be shown again. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostImpressionsAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGuestFeed: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed. It is empty only where there are neither items nor public posts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    /** @description Anybody may keep the answer for a minute. */
                    "Cache-Control": "public, max-age=60";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetGuestFeedAnswer"];
                };
            };
            /** @description What the client has is current. */
            304: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    /** @description Anybody may keep the answer for a minute. */
                    "Cache-Control": "public, max-age=60";
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The call is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 256 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Event"] | components["schemas"]["PostEventsRequestObject"];
            };
        };
        responses: {
            /** @description They were taken. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostEventsAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTimeline: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier answer, `<post id>:<Unix seconds>`: posts
                 *     below that place, or beyond it in the order asked for. It stays good when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Posts of a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Posts"];
            400: components["responses"]["BadPage"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    warmTimeline: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getStream: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `id` of the last event that the caller got.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /**
             * @description The events, until one side ends them. The data of `new` is
             *     `{"count":3}`; 99 stands for that many or more.
             */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The id of the agent or of the last event is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description A new one for each post, the same for a repetition. Keys of different authors have nothing to do with each other.
                 * @example 3f2a9c1e77b04d5d
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 512 KiB, and the images. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["CreatePostRequest"];
                "application/json": components["schemas"]["NewPost"];
            };
        };
        responses: {
            /** @description It was published before, by a call with the same key. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePostAnswer"];
                };
            };
            /** @description It is published. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePostAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The Idempotency-Key was used for another post. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["TooLarge"];
            /** @description A file is no JPEG, PNG, GIF or WebP, or has something else in it, too; or this server takes no images. */
            415: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["BadPost"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getImage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The last part of an image's `url` or `thumbnail`.
                 * @example 9f86d081884c7d659a2feaa0c55ad015
                 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The image. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    "X-Content-Type-Options": "nosniff";
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                    "image/png": string;
                };
            };
            /** @description A part of the image, as the header Range asked. */
            206: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    "X-Content-Type-Options": "nosniff";
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                    "image/png": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            /** @description The image has no such part. Content-Range says how long it is. */
            416: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Post"];
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    editPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        /** @description At most 512 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditPostRequest"];
            };
        };
        responses: {
            /** @description The post as the caller sees it. An admin sees public posts; of any other the data is empty. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditPostAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            422: components["responses"]["BadPost"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    likePost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Likes"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlikePost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Likes"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReplies: {
        parameters: {
            query?: {
                /** @description Which come first. */
                order?: "newest" | "oldest";
                /**
                 * @description The `next_cursor` of an earlier answer, `<post id>:<Unix seconds>`: posts
                 *     below that place, or beyond it in the order asked for. It stays good when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Posts of a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The post's id.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
                 */
                id: components["parameters"]["PostID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Posts"];
            400: components["responses"]["BadPage"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The author. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAuthorAnswer"];
                };
            };
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutAuthorRequest"];
            };
        };
        responses: {
            /** @description The card as it is stored. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutAuthorAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAuthorPosts: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier answer, `<post id>:<Unix seconds>`: posts
                 *     below that place, or beyond it in the order asked for. It stays good when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Posts of a page. Left out it is 20, and 10 of the grid. */
                limit?: number;
                /** @description `grid` answers the first thumbnail and the counts of each post, and nothing else. Left out, the posts. */
                view?: "grid";
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent who writes.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of posts, or of tiles in the grid. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAuthorPostsAnswer"];
                };
            };
            400: components["responses"]["BadPage"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFollowing: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of an earlier answer. Without it the list begins.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Agents of a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Agents"];
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    followMany: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["FollowManyRequest"];
            };
        };
        responses: {
            /** @description How many follows were made, and which were refused. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FollowManyAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSuggestions: {
        parameters: {
            query?: {
                /** @description Authors of the answer. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The best first; empty where nothing is known. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSuggestionsAnswer"];
                };
            };
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFollowers: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of an earlier answer. Without it the list begins.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Agents of a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Agents"];
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    follow: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to follow. Who follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Limit"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unfollow: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to follow. Who follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBlocked: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of an earlier answer. Without it the list begins.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Agents of a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Agents"];
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    block: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unblock: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description Whom to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCircles: {
        parameters: {
            query?: {
                /** @description `owned`: their own. `joined`: groups and events of others that they are in. `invited`: those that they may join. */
                of?: "owned" | "joined" | "invited";
                /**
                 * @description The `next_after` of an earlier answer. Without it the list begins.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Agents of a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCirclesAnswer"];
                };
            };
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Circle"];
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 1 MiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutCircleRequest"];
            };
        };
        responses: {
            200: components["responses"]["Circle"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            422: components["responses"]["Limit"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMembers: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of an earlier answer. Without it the list begins.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Agents of a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id, which nobody else's circle has.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Agents"];
            400: components["responses"]["BadList"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /** @example c1 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The member.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Limit"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /** @example c1 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The member.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    invite: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description A group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description Who is invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Limit"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    withdrawInvitation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description A group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description Who is invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postGraphEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description Whether the body is packed. */
                "Content-Encoding"?: "gzip" | "identity";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description The body was read to its end. Look at `rejected`. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostGraphEventsAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Profile"];
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the profile that is to be changed, or `*` for any, as long as there
                 *     is one. Without it whichever is stored is changed.
                 * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
                 */
                "If-Match"?: components["parameters"]["IfProfileMatch"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 1 MiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Profile"];
            };
        };
        responses: {
            200: components["responses"]["Profile"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            412: components["responses"]["ProfileChanged"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    patchProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the profile that is to be changed, or `*` for any, as long as there
                 *     is one. Without it whichever is stored is changed.
                 * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
                 */
                "If-Match"?: components["parameters"]["IfProfileMatch"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 1 MiB. */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: components["responses"]["Profile"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            412: components["responses"]["ProfileChanged"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    muteAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Whose items are not shown. Slashes in it may be written as they are.
                 * @example ann
                 */
                author: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["MostMuted"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unmuteAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Whose items are not shown. Slashes in it may be written as they are.
                 * @example ann
                 */
                author: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    muteTag: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Which items are not shown. Slashes in it may be written as they are.
                 * @example politics
                 */
                tag: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["MostMuted"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unmuteTag: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description Which items are not shown. Slashes in it may be written as they are.
                 * @example politics
                 */
                tag: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    muteItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description The item or group that is not shown. Slashes in it may be written as they are.
                 * @example post/77
                 */
                item: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unmuteItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whose profile. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
                /**
                 * @description The item or group that is not shown. Slashes in it may be written as they are.
                 * @example post/77
                 */
                item: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    forgetLearned: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Of whom. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description Whom. An agent may name itself only.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getItems: {
        parameters: {
            query?: {
                /** @description Only items of this author. */
                author?: string;
                /** @description Only items with this tag, in any spelling. */
                tag?: string;
                /** @description Unix seconds. Only items whose `update_time` is this or later. */
                since?: number;
                /** @description The `next_cursor` of the page before. Any other text is refused. */
                cursor?: string;
                /** @description How many. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the items. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetItemsAnswer"];
                };
            };
            /** @description A parameter is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postItems: {
        parameters: {
            query?: {
                /**
                 * @description Leave out items whose `update_time` is not later than that of the
                 *     stored one. They are counted as `kept`. Where no item is stored yet,
                 *     one that another upload stores at the same moment may be replaced
                 *     all the same.
                 */
                if_newer?: boolean;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description Whether the body is packed. */
                "Content-Encoding"?: "gzip" | "identity";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Item"][];
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description The body was read to its end. Look at `rejected`. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostItemsAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postItemCounts: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description Whether the body is packed. */
                "Content-Encoding"?: "gzip" | "identity";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ItemCounts"][];
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description The body was read to its end. Look at `rejected`. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostItemCountsAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. A slash in it may be written as it is or as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item as it is stored. Of a post, what `GET /v1/posts/{id}` answers to nobody. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetItemAnswer"];
                };
            };
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. A slash in it may be written as it is or as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    patchItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. A slash in it may be written as it is or as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        /** @description At most 256 KiB. */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The item as it is stored now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatchItemAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postExplain: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 4 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        responses: {
            /** @description What the refresh would do. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostExplainAnswer"];
                };
            };
            400: components["responses"]["BadBodyLimitOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRanking: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["RankingVersion"];
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putRanking: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version that is to be changed; `*` or nothing is whichever is the newest.
                 * @example "3"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutRankingRequest"];
            };
        };
        responses: {
            200: components["responses"]["RankingVersion"];
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            412: components["responses"]["NotCurrent"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRankingHistory: {
        parameters: {
            query?: {
                /** @description How many versions, newest first. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest versions, newest first. Version 0 is the configuration. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRankingHistoryAnswer"];
                };
            };
            /** @description A parameter is unknown or a duplicate, or the limit is wrong. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    revertRanking: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version that is to be changed; `*` or nothing is whichever is the newest.
                 * @example "3"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevertRankingRequest"];
            };
        };
        responses: {
            200: components["responses"]["RankingVersion"];
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["NotCurrent"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReport: {
        parameters: {
            query?: {
                /** @description How many days, today included, in UTC. A week weighs each day of the week the same. */
                days?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each variant's figures, `control` first. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReportAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postCompare: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostCompareRequest"];
            };
        };
        responses: {
            /** @description How far they differ. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostCompareAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postReplay: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 256 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostReplayRequest"];
            };
        };
        responses: {
            /** @description An outcome for each click, in order. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostReplayAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPromotions: {
        parameters: {
            query?: {
                /** @description Promotions with ids after this one. */
                after?: components["schemas"]["AgentID"];
                /** @description How many. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the promotions, by id. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPromotionsAnswer"];
                };
            };
            /** @description A parameter is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPromotion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The promotion's id.
                 * @example autumn
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Promotion"];
            400: components["responses"]["BadID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putPromotion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The promotion's id.
                 * @example autumn
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 256 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutPromotionRequest"];
            };
        };
        responses: {
            200: components["responses"]["Promotion"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            422: components["responses"]["Limit"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePromotion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The promotion's id.
                 * @example autumn
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getJobs: {
        parameters: {
            query?: {
                /** @description Only jobs of this kind. */
                kind?: components["schemas"]["JobKind"];
                /** @description Only jobs in this state. */
                state?: components["schemas"]["JobState"];
                /** @description Only jobs about this, for example the id of a post. */
                key?: string;
                /** @description Jobs with ids greater than this one. */
                after?: number;
                /** @description How many. */
                limit?: number;
            };
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the queue, by id, and how many jobs there are in all. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetJobsAnswer"];
                };
            };
            /** @description A parameter is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postJobs: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 4 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostJobsRequest"];
            };
        };
        responses: {
            /** @description The jobs that wait now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostJobsAnswer"];
                };
            };
            /** @description The body, or the id in it, is wrong and stays so. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The job's id, from the list.
                 * @example 17
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this call in the server's log and in the answer: up to 128
                 *     characters of `A-Z a-z 0-9 _ . : / + = @ -`. Any other is replaced. It
                 *     has nothing to do with `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The job's id, from the list.
                 * @example 17
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    feedPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, all from this server. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
        };
    };
    lab: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, all from this server. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
        };
    };
    docs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, all from this server. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
        };
    };
    asset: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description May hold slashes.
                 * @example base.css
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A style sheet, a script or a picture. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "text/*": unknown;
                    "image/svg+xml": unknown;
                };
            };
            304: components["responses"]["NotModified"];
            404: components["responses"]["NotFound"];
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Done"];
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It can. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            500: components["responses"]["Internal"];
            /** @description It cannot. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In the text format of Prometheus, or in another one that `Accept` asks for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenapiAnswer"];
                };
            };
            304: components["responses"]["NotModified"];
        };
    };
}
