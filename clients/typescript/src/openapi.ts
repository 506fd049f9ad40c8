// Generated from /openapi.json by "npm run generate". Do not edit.

export interface paths {
    "/v1/feed": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description `refresh` finds the best unseen items now and returns the first page of them. The
         *     others stay in the session for half an hour, for `load_more`. If the session is empty,
         *     `load_more` refreshes, so an app can always scroll on. Returned items are not returned
         *     again for seven days, on any server.
         *
         *     With `silent`, a refresh reports the items that are new since the last refresh, and
         *     changes nothing. Call it in the background, and show a badge if `items` is not empty.
         *
         *     With a `request_id`, a retry within a minute gets the same page. Without one, a page
         *     whose response was lost cannot be fetched again.
         *
         *     `feed` selects one of the reader's feeds: `for_you`, or `home`, which blends posts by
         *     followed authors with trending, discovered and promoted items. Each feed has its own
         *     session, but an item that one has returned is not returned by the other.
         *
         *     `tag:go` and `lang:de` are feeds of the items with a tag or in a language, ranked for the
         *     reader as `for_you` is, and so is the name of a stored feed (`PUT /v1/feeds/{name}`); one that
         *     does not exist for the reader gets 40401. All these share one session: opening one ends the
         *     session of another. Each may return what other feeds have returned, marked
         *     `in_feed.shown_before`, but returns nothing twice in seven days; `for_you` and `home` do not
         *     return what it has returned.
         *
         *     With `why`, `in_feed.why` of each item lists the parts of its score, for texts such as
         *     "because you read about Go".
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Required if the server runs with `impressions.on: seen`: items that were returned but
         *     not reported as seen may then come back. Otherwise every returned item counts as seen,
         *     and reports are harmless. Reporting an item again changes nothing.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed without an account
         * @description Trending items and posts, for readers who are not signed in. The response is the same
         *     for every caller and may be cached for a minute, so a cache may show a post for that
         *     long after its deletion. Nothing is recorded, and items that were shown before are not
         *     left out.
         *
         *     The trending list is computed every five minutes: the items and public posts of the last
         *     seven days with the highest `(likes + 2·comments) / (hours old + 1)²`, ordered by that
         *     × `exp(−0.02 · hours old)`. Authors, sites and tags are varied as on any page. If these
         *     are fewer than a page, the newest items and public posts follow. Positions 9, 19, 29 and
         *     so on are for promotions.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Send one event, or up to 500 in `events`. Events are counted for live popularity, for what
         *     is learned about the reader and for the report on rankings, and only for items that the reader
         *     was shown. The report counts each reader, item and type once a day, so sending events again
         *     is harmless. `hide` also mutes the item with its group for the reader; so does `dislike`
         *     with `dedup.when_exhausted: oldest`. `unlike` takes a `like` back, except in reports. If the
         *     limit of muted items is reached, the call is refused, nothing of it is counted or muted, and
         *     all that was muted stays.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read the timeline
         * @description The caller's own posts, all posts of the authors whom the caller follows, and posts that
         *     are addressed to the caller or mention them, newest first. Only muted posts, deleted posts
         *     and posts that the caller may not see any more are left out, and some mentions by people whom
         *     the caller does not follow: these are at most a quarter of a page that others fill, with three
         *     others between two of them. Without `cursor`, the page begins with the newest post.
         *
         *     A page may be shorter than `limit`, or empty, although there are more posts: continue with
         *     `next_cursor` until `has_more` is false.
         *
         *     While the social store is unavailable, a page has cached copies of public posts, without
         *     `reason`, and `degraded` has `social`. When the store is available again, start over to
         *     get the missing posts. If there is nothing to show, the response is 503.
         *
         *     `degraded` has `timeline` if posts are waiting for delivery, or if the social store
         *     answers because lists cannot be read: a post of the last seconds may be missing.
         *
         *     The feeds do not show again what a page has shown. If that could not be recorded,
         *     `degraded` has `session`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Build the timeline in advance
         * @description Makes the next read fast, for example at login or after onboarding. If the timeline is
         *     already built, the call does nothing. It has no body.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Receive events about new posts in the timeline, and notifications
         * @description Server-sent events. An event `new` has the number of posts that are new in the timeline
         *     since the previous event. It is sent within three seconds after a post was delivered, on
         *     any server. Read the posts with `GET /v1/timeline`. Posts that the caller may not see, has
         *     muted or has written are not counted. Of mentions by people whom the caller does not follow,
         *     as many are counted as a page of 20 posts has. A post that arrives up to a day after its date
         *     is new when it arrives.
         *
         *     An event `notification` has the number of the agent's unread notifications: at the beginning if
         *     there are any, when there is a new one, and when the number has changed because one was undone, or
         *     the agent has seen some, on any device. Read them with `GET /v1/agents/{agent_id}/notifications`. It has no `id`.
         *     Ignore events that you do not know.
         *
         *     The `id` of an event is a position in the timeline, with the time up to which such late
         *     posts were reported. Send it back as it is. A client that reconnects with
         *     `Last-Event-ID`, or with `lastEventId` in the query, immediately gets the number of posts since
         *     that position. Without both, the stream starts at the present position, which is the `id` of the
         *     first event, `ready`. `0` is the position of an empty timeline. An id more than five minutes in
         *     the future counts as none.
         *
         *     A comment is sent every 15 seconds. A stream ends after about half an hour, when its
         *     server stops, or when the caller's token expires. Reconnect after `retry` milliseconds, as
         *     `EventSource` does automatically. An agent may have 8 streams open on one server.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description The caller is the author. Hashtags of the caption are added to the tags. The audience
         *     cannot be changed later: without `audience` everybody may see the post, with `{}` only the
         *     author and the agents in `mentions`. The author's own timeline has the post from the next
         *     call on.
         *
         *     With `reply_to` the post is a reply. It is visible to its author and to the present audience
         *     of the root post of the thread, and appears in no timeline or feed. 403 says who may reply.
         *     404 means that the caller may not see the post that they reply to.
         *
         *     With an `Idempotency-Key`, a retry within 24 hours returns the same post in its present
         *     state, with 200 instead of 201, or 404 if it was deleted.
         *
         *     To publish images, send a form: the field `post` holds the post as JSON, and the field
         *     `image` is repeated for each file. At most 10 files are allowed, each of at most 5 MiB and
         *     50 megapixels. The formats are JPEG, PNG, GIF (first frame) and WebP, recognized by
         *     content. The server removes location and camera data, rotates images upright and creates
         *     thumbnails of 320 pixels. The post is stored with all its images, or not at all.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Everybody can read an image of a public post, and any cache may store it for a year. An
         *     image of another post is returned only to those who may see the post, and must not be
         *     cached, and to moderators with the admin token (the audit log has it); all others get 404. Ranges and `If-None-Match` are supported. The image with a
         *     given key never changes.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Callers who may not see the post get 404. A call without an agent can read public posts,
         *     and gets no `in_feed`.
         *
         *     While the social store is unavailable, the response is a cached copy of a public post, at
         *     most an hour old, with `degraded: [social]`. For other posts it is 503.
         */
        get: operations["getPost"];
        put?: never;
        post?: never;
        /**
         * Delete or remove a post
         * @description No response that begins after this one shows the post. Its author and admins delete it.
         *
         *     The owner of a group or an event *removes* a post of somebody else from it, or from all
         *     groups of theirs that it addresses. A post without any other audience is then visible to its
         *     author alone, even if it mentions others. The owner also removes replies to posts that only
         *     circles see, for those who see the post through these groups alone. The author of a post
         *     removes replies to it, for everybody but the author of the reply. In `in_feed.removed` the
         *     author of a removed post or reply sees by whom and why. No edit, and no report of another
         *     system, undoes a removal; repeating it changes nothing.
         *
         *     An admin removes instead of deleting with `circle` or, for a reply, `reason`.
         */
        delete: operations["deletePost"];
        options?: never;
        head?: never;
        /**
         * Edit a post
         * @description Fields that are left out stay as they are. The post's audience and its position in
         *     timelines do not change. Only an admin can edit a post that came from another system.
         *
         *     An edit that leaves the post as its readers see it, such as one with the values that a GET
         *     has returned, changes nothing: `edited_at` stays.
         *
         *     `reply` can only be narrowed: from `public` to `followers` or `audience`, and from these to
         *     `none`. Existing replies stay. An admin can also widen it.
         */
        patch: operations["editPost"];
        trace?: never;
    };
    "/v1/posts/{id}/like": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Liking a post again changes nothing. A new like also counts as the event `like`.
         */
        put: operations["likePost"];
        post?: never;
        /**
         * Remove a like
         * @description Without a like, the call changes nothing. It also works for a post that the caller may not see any more, and then returns 0 likes, as for a post that does not exist. What the like did to the post's popularity and to what is learned about the caller is taken back.
         */
        delete: operations["unlikePost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/likes": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /**
         * List what an agent likes
         * @description The posts and replies that the agent likes and may see, the newest like first, whatever the agent
         *     has muted. Nobody else but an admin can list them. Pages work as in the timeline; what they show does
         *     not count as shown. Likes of items are counted, but not listed.
         */
        get: operations["getLikes"];
        put?: never;
        post?: never;
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * List the replies to a post
         * @description A flat list of the replies that the caller may see and has not muted. It includes replies
         *     to replies: `reply_to` has the id of the post or reply that each one answers. The list of
         *     a reply is empty. A caller who is not in the audience of the post now gets only their own
         *     replies, and 404 if they may not see the post and have none. Replies that are read here do
         *     not count as shown.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /**
         * Read an author
         * @description Returns the card and counts of the author. The caller always gets itself, also before its first post, so `~` tells an app its reader's id. Otherwise an unknown author is 404, and so is one who blocks the caller. For an author whom the caller blocks, only `is_blocked` is returned.
         */
        get: operations["getAuthor"];
        /**
         * Replace an author's card
         * @description Replaces the whole card. A field that is left out has no value afterwards; for `suggest_from_follows` the default applies again, and `recommend` stays as it was. Use PATCH to change single fields.
         */
        put: operations["putAuthor"];
        post?: never;
        /**
         * Erase an author
         * @description When the call returns, the author's card and posts are removed. So are the followers,
         *     except that thousands of them take some seconds. The author's own follows and likes stay;
         *     `DELETE /v1/agents/{agent_id}` erases those, too. Repeating the call changes nothing.
         */
        delete: operations["deleteAuthor"];
        options?: never;
        head?: never;
        /**
         * Change parts of an author's card
         * @description A JSON merge patch (RFC 7396), also as `application/merge-patch+json`: its fields replace those of the card, null removes a field, and
         *     fields that are left out stay. The change is atomic: concurrent changes of other fields stay.
         *     An author without a card gets one.
         */
        patch: operations["patchAuthor"];
        trace?: never;
    };
    "/v1/authors/{id}/image": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the image of an author's card
         * @description Stores the image, scaled down to 320 pixels on its longer side, and sets the card's `image_url` to its
         *     path. The formats and limits are those of the images of a post. Everybody can load it, like the rest of
         *     the card. The other fields of the card stay. An earlier upload is removed, as this one is when
         *     `image_url` is changed or removed, or the author is erased. `image_url` sent back as it was read changes
         *     nothing.
         */
        put: operations["putAuthorImage"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/authors/cards": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the cards of many people
         * @description Returns a card for each id, in their order, for the ids of people that an app has from elsewhere. Lists of people carry the same cards.
         */
        post: operations["postAuthorCards"];
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /**
         * List an author's posts
         * @description The author's posts that the caller may see, newest first, including replies to public
         *     posts. Replies to other posts are listed only for the author, all of their own. An unknown author has no
         *     posts. Pages work as in the timeline. If the call has an agent, the feeds do not show these
         *     posts again; `degraded` has `session` if that could not be recorded.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * List the authors whom an agent follows
         * @description Agents separated from the caller by a block, in either direction, are left out.
         */
        get: operations["getFollowing"];
        put?: never;
        /**
         * Follow several authors
         * @description The agent keeps its other follows. The timeline has the posts of the new authors from the
         *     next call on. Each author is accepted or refused separately, as with `PUT`; the agent's own
         *     id is refused. If an id is malformed, the whole call fails with 400 and changes nothing. If
         *     `social.follows` is `app`, only an admin may do this.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * Suggest authors to follow
         * @description First come authors who are followed by at least three friends of the agent: agents who have
         *     followed the agent, and been followed back, for a week or more, and who do not refuse it
         *     (`suggest_from_follows` of their card). A background job computes them once a day. Authors of
         *     trending posts come next, then the newest authors of public posts; the agent's interests only
         *     change their order. Authors whom the agent follows, mutes or blocks, authors who
         *     block the agent, and authors who do not want to be recommended (`recommend` of their card), are left out.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * List the followers of an agent
         * @description Agents separated from the caller by a block, in either direction, are left out.
         */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The author to follow. An agent that follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Follow an author
         * @description The timeline has the author's posts from the next call on. An agent can follow at most 7,500
         *     authors. The call is refused while one of the two blocks the other. If `social.follows` is
         *     `app`, only an admin may do this.
         */
        put: operations["follow"];
        post?: never;
        /**
         * Unfollow an author
         * @description From the next call on, the timeline lacks the author's posts, except those that are in it for another reason.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List the agents whom an agent blocks */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The agent to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Block an agent
         * @description Ends follows between the two agents and prevents new ones. From now on, neither sees the other's posts, or the other in a list of agents.
         */
        put: operations["block"];
        post?: never;
        /**
         * Unblock an agent
         * @description Ended follows are not restored. A block by the other agent stays.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's circles
         * @description Sorted by id. `joined` and `invited` list only groups and events, because a circle is private to its owner.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * Read a circle
         * @description Allowed for the owner and admins, and for members and invited agents of a group or an event. All others get 404.
         */
        get: operations["getCircle"];
        /**
         * Create or change a circle
         * @description The caller becomes the owner of a new circle; an admin must name the owner. A PUT does not
         *     change the owner. An agent can own at most 500 circles, groups and events. A new event
         *     needs `until`, in the future; from that time on it takes no new posts, and admits and invites nobody.
         *
         *     The call describes the whole circle: without `name`, it has none afterwards. Use PATCH to
         *     change single fields.
         */
        put: operations["putCircle"];
        post?: never;
        /**
         * Delete a circle
         * @description Ends all memberships and invitations. Posts to the circle stay visible to the rest of their audience.
         */
        delete: operations["deleteCircle"];
        options?: never;
        head?: never;
        /**
         * Change single fields of a circle
         * @description A JSON merge patch (RFC 7396), also as `application/merge-patch+json`: its fields replace those of the circle, null removes the name
         *     or sets another field to its default, and fields that are left out stay. The change is atomic:
         *     concurrent changes of other fields stay. Allowed for the owner and admins.
         *
         *     With `owner`, a group or an event passes to one of its members, who must own fewer than 500
         *     circles, groups and events. The former owner stays a member.
         */
        patch: operations["patchCircle"];
        trace?: never;
    };
    "/v1/circles/{id}/posts": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * List the posts of a group
         * @description The posts that the caller sees through the group or event, newest first: as a member, with
         *     the group's `history`, without those of muted authors and without replies. The owner of a
         *     circle gets the posts addressed to it. For others a circle is 404, and so is a group for
         *     everybody who is neither a member nor invited; who is invited gets 403. Pages work as in the
         *     timeline, and the feeds do not show these posts again; `degraded` has `session` if that
         *     could not be recorded.
         */
        get: operations["getCirclePosts"];
        put?: never;
        post?: never;
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * List the members of a circle
         * @description Allowed for the owner and admins, and for members of a group or an event if `members_visible_to` is `members`. Agents separated from the caller by a block, in either direction, are left out.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                agent: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Add a member
         * @description From the next call on, the member's timeline has the posts to the circle, including earlier
         *     ones; in a group or an event with `history` `joined`, only posts from now on. The owner of a
         *     circle adds members. Into a group or an event, the owner invites agents, who join by adding
         *     themselves; only an admin adds others there. An event that is over admits nobody. A circle has at
         *     most 5,000 members, and an agent can be in at most 1,000 groups and events. An agent who blocks
         *     the owner, or whom the owner blocks, cannot be added.
         */
        put: operations["addMember"];
        post?: never;
        /**
         * Remove a member
         * @description Responses that begin after this one no longer show the circle's posts to the agent. Members may remove themselves; for 30 days, the owner cannot invite them to this group or event again. The owner of a group or an event cannot be removed.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}/invitations": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /**
         * List the open invitations to a group or an event
         * @description Allowed for the owner and admins. An event that is over has none.
         */
        get: operations["getInvitations"];
        put?: never;
        post?: never;
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The agent to invite, or who was invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Invite an agent to a group or an event
         * @description The agent may join once, with `PUT /v1/circles/{id}/members/{agent}`. A group or an event can have
         *     5,000 open invitations, and an agent 1,000, at most 20 by one owner. The call is refused while
         *     the agent or the owner blocks the other, if the event is over, and for 30 days after the agent has
         *     declined an invitation by this owner or left this group; an admin can invite them.
         */
        put: operations["invite"];
        post?: never;
        /**
         * Withdraw or decline an invitation
         * @description The owner withdraws an invitation. The invited agent declines: for 30 days, the owner cannot invite them to any group or event.
         */
        delete: operations["withdrawInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/circles": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List the muted groups and events */
        get: operations["getMutedCircles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/circles/{circle}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                circle: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute a group or an event
         * @description Its posts leave the agent's timeline, home, streams and badges, unless they belong there for
         *     another reason, such as a follow. The agent stays a member and can read the posts by their ids,
         *     on authors' pages, and their replies. Without `until`, the mute lasts until it is removed. The id
         *     of a circle that does not exist, or that the agent is not in, can be muted, too. At most 1,000.
         */
        put: operations["muteCircle"];
        post?: never;
        /** Unmute a group or an event */
        delete: operations["unmuteCircle"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/invitations": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List the agents whose invitations are muted */
        get: operations["getMutedInvitations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/invitations/{agent}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The owner of groups and events.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute the invitations by an agent
         * @description They are not listed for the invited agent, and do not count among their open invitations. The
         *     agent who invites does not notice it. At most 1,000.
         */
        put: operations["muteInvitations"];
        post?: never;
        /** Unmute the invitations by an agent */
        delete: operations["unmuteInvitations"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/notifications": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * Read what others did that concerns an agent
         * @description The newest first, grouped: "ana and 4 others liked your post". The kinds are
         *
         *     - `follow`: the actors follow the agent. Follows of one day (UTC) are one notification.
         *     - `like`: they like the agent's `post`.
         *     - `reply`: they replied to the agent's `post`; `reply` is the newest reply.
         *     - `mention`: the `post`, or reply, of the actor mentions the agent. A reply to the agent's own post that
         *       mentions it is a `reply` alone.
         *     - `invitation`: the actor invites the agent to `circle`, and the invitation is open.
         *     - `joined`: they joined the agent's group or event `circle` by themselves, on one day (UTC).
         *
         *     Later versions may have others; ignore those that you do not know.
         *
         *     What the answer has is decided when it is read. An act that was undone, or a post that was deleted, is
         *     not in it, and nothing is of agents separated from the agent by a block, of authors whom its profile
         *     mutes, about posts with a tag or a word that it mutes, posts that it does not see (any more), posts and
         *     threads that it has hidden, or what it sees only through groups that it has muted. One's own acts notify nobody, nor do events about changes
         *     of more than ten minutes ago. An act that is undone and repeated within a day keeps its place.
         *
         *     Notifications are kept for `notifications.retention` (90 days), of one agent about the newest
         *     `notifications.most` (500), and a sixth of that of each kind whatever there is of others; once there are
         *     more, of one actor a tenth; 403 if the retention is 0. The event `notification` of `GET /v1/stream` says
         *     that there is a new one.
         */
        get: operations["getNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/notifications/seen": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mark notifications as seen
         * @description Marks all notifications up to a marker as seen, on all devices of the agent. The marker never moves back: a
         *     lower one than before changes nothing. One that is higher than all notifications so far is refused with 400.
         */
        put: operations["seeNotifications"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/notifications": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** List the muted kinds of notifications */
        get: operations["getMutedNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/notifications/{kind}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The kind of notifications.
                 * @example like
                 */
                kind: components["schemas"]["NotificationKind"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute a kind of notifications
         * @description Those of before are not listed any more either, nor counted as unread, until the mute is removed.
         */
        put: operations["muteNotifications"];
        post?: never;
        /** Unmute a kind of notifications */
        delete: operations["unmuteNotifications"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/export": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * See how far an export is
         * @description The states are
         *
         *     - `none`: there is no export, or it has expired.
         *     - `running`: it is being made. Ask again in some seconds.
         *     - `ready`: its file can be fetched `until` then.
         *     - `fetched`: all of it was sent. The rest of a transfer that was cut can be fetched for an hour.
         *     - `failed`: `reason` says why. Ask for another at `next_at`.
         */
        get: operations["getExport"];
        put?: never;
        /**
         * Ask for everything that is stored about an agent
         * @description A job collects everything that `DELETE /v1/agents/{agent_id}` would delete into a zip: files of JSON lines and the
         *     images of the agent's posts. What the zip cannot have, its README and `manifest.json` name, with the
         *     reason. While an export is being made or can be fetched, the answer is about that one. Another one can be asked
         *     for an hour after the last; earlier calls are refused with 429. A suspended agent may export. The server keeps the file for a day.
         */
        post: operations["askExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/export/file": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /**
         * Fetch an export, once
         * @description Once every byte was sent, the export is fetched: a further call gets 410. A transfer that was cut is continued
         *     with `Range: bytes=N-`, where N is the number of bytes that have arrived, on any server; also within an hour
         *     after the last byte was sent, as a proxy may have read what the client has not. One agent can have two
         *     transfers at the same time.
         */
        get: operations["getExportFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/posts/{id}/report": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
        put?: never;
        /**
         * Report a post or a reply
         * @description Moderators read it with `GET /v1/reports`. An agent reports a thing once: repeating the call changes nothing, not
         *     even the reason. What the agent may not see is answered like what does not exist. The report is erased with the
         *     agent, who may send it even if it is suspended.
         */
        post: operations["reportPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items/{id}/report": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of an item that is no post. Of an id that ends in `/report`, the slash is escaped as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report an item
         * @description Moderators read it with `GET /v1/reports`. An agent reports a thing once: repeating the call changes nothing, not
         *     even the reason. What the agent may not see is answered like what does not exist. The report is erased with the
         *     agent, who may send it even if it is suspended.
         */
        post: operations["reportItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/authors/{id}/report": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's id.
                 * @example u_2
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report an author
         * @description Moderators read it with `GET /v1/reports`. An agent reports a thing once: repeating the call changes nothing, not
         *     even the reason. What the agent may not see is answered like what does not exist. The report is erased with the
         *     agent, who may send it even if it is suspended.
         */
        post: operations["reportAuthor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circles/{id}/report": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of a group or an event that the agent is in, or is invited to.
                 * @example hiking
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a group or an event
         * @description Moderators read it with `GET /v1/reports`. An agent reports a thing once: repeating the call changes nothing, not
         *     even the reason. What the agent may not see is answered like what does not exist. The report is erased with the
         *     agent, who may send it even if it is suspended.
         */
        post: operations["reportCircle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reports": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List what agents have reported
         * @description One entry for each post, item, author or group, with the number of agents who have reported it and their newest
         *     reports; the one with the latest report first. An entry is open until a moderator acts on the object with
         *     `POST /v1/moderation`, and again when another agent reports it.
         */
        get: operations["getReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide about a post, an author or a report
         * @description | action | of | |
         *     |---|---|---|
         *     | `hold` | a post or a reply | Nobody but its author sees it, anywhere, until it is restored or removed. The author sees `held` in `in_feed.removed`, with the reason |
         *     | `remove` | the same | The same, without `held` |
         *     | `restore` | the same | Its audience sees it again |
         *     | `suspend` | an author | Until `until`, the agent's public writes get 403 with the reason and the time, and no feed, trending or suggestion shows its posts; who follows it sees them in the timeline |
         *     | `lift` | an author | Ends a suspension |
         *     | `dismiss` | all | Only decides the reports |
         *
         *     Each action decides the open reports about the object, and is written to the audit log in the same transaction.
         *     Repeating one changes nothing but the log. To remove an item use `DELETE /v1/items/{id}`, for a group
         *     `DELETE /v1/circles/{id}`, and then `dismiss`.
         */
        post: operations["moderate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/posts": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List posts, regardless of their audience
         * @description The newest first: of all authors those made on this server, or the posts and replies of one author, those
         *     that were reported, and those that are held or removed, also of other servers. The audit log says who has read
         *     the list.
         */
        get: operations["getModeratedPosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/posts/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * Read a post, regardless of its audience
         * @description With its audience as it is without the moderators' decision. The audit log says who has read it. The admin token
         *     also opens its images, which is logged, too.
         */
        get: operations["getModeratedPost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description What moderators have done and read, the newest first. Entries are never changed and are kept for ever, except that
         *     the erasure of an agent removes its id and the reasons from entries about it.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Takes any number of events as JSON lines, and applies them as they arrive. Each event is
         *     accepted or rejected separately. Events may arrive late, twice and in any order, because each has its
         *     own time (`at`): an older event does not undo a newer one, and at equal times the removal
         *     wins. So an interrupted upload can simply be sent again. Use this route also to import a
         *     whole network. The order of the lines decides nothing: posts of one second are listed in the
         *     byte order of their ids, so choose ids that sort as the posts came.
         *
         *     An event is `{"type":…,"data":{…}}`. The types and their data:
         *
         *     | type | data |
         *     |---|---|
         *     | `post.created` | `id`, `author` (`id`; with any of `name`, `image_url`, `bio` and `recommend` it replaces the author's card, of which `recommend` stays if it is left out), `created_at`, and as in `POST /v1/posts` `caption`, `tags`, `audience`, `mentions`, `reply`, `react` and `reply_to`, of a post that was reported before; for posts of another host also `origin`, `url`, `object_type` and `grants`. `at` defaults to `created_at`. While the stored post has replies, the audience only narrows |
         *     | `post.updated` | `id`, `at`, and the changed fields of `caption`, `tags`, `alts`, `reply` |
         *     | `post.deleted` | `id`, `at` |
         *     | `follow.created`, `follow.removed` | `agent_id`, `author_id`, `at` |
         *     | `connections.accepted`, `connections.removed` | `agents`, the two agents who start or stop following each other; `at` |
         *     | `circle.changed` | `id`, `at`, and one of: the present state of the circle, that is `owner`, `name`, `members` (left out, they stay), and as in `PUT /v1/circles/{id}` `kind`, `post`, `history`, `members_visible_to` and `until`; `added`, `removed` or both; `deleted: true` |
         *     | `engagement` | `id` of the post, `likes` and `comments` as counted by the other system, `at` |
         *
         *     Times are RFC 3339 or Unix seconds, and may be up to 30 seconds ahead of the server's clock.
         *     The body may have 64 MiB, both compressed and uncompressed, and an event 1 MiB. An error that ends
         *     the upload early has the report of the events processed before it in `data`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /**
         * Read a profile
         * @description The `ETag` identifies the declared profile, without what was learned. A PUT or PATCH that
         *     sends it in `If-Match` takes effect only if the profile has not changed since.
         */
        get: operations["getProfile"];
        /**
         * Replace a profile
         * @description Takes effect with the next refresh. If mutes or languages change, the session is dropped, so
         *     that no muted item is shown any more. The whole profile is replaced, except that
         *     `muted_items` stay if left out. If another device may write, too, send `If-Match`, or use
         *     PATCH or the routes of `muted` to change a part.
         */
        put: operations["putProfile"];
        post?: never;
        /**
         * Delete a profile
         * @description What was learned about the agent stays. If nothing was learned, the feed is ordered by freshness and popularity.
         */
        delete: operations["deleteProfile"];
        options?: never;
        head?: never;
        /**
         * Change parts of a profile
         * @description A JSON merge patch (RFC 7396), also as `application/merge-patch+json`: its fields replace those of the stored profile, null removes
         *     a field, interests are merged, and fields that are left out stay. The change is atomic:
         *     concurrent changes do not undo each other unless they name the same field. The
         *     profile is created if the agent has none.
         */
        patch: operations["patchProfile"];
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/authors/{author}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The author whose items are not shown. Slashes need not be escaped.
                 * @example ann
                 */
                author: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute an author
         * @description Changes only this entry of the profile, so concurrent changes by other devices stay. The profile
         *     is created if the agent has none. Takes effect like a PUT of the profile. Repeating the call
         *     replaces the end of the mute, or removes it.
         */
        put: operations["muteAuthor"];
        post?: never;
        /** Unmute an author */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items with this tag are not shown. Slashes need not be escaped.
                 * @example politics
                 */
                tag: components["schemas"]["Term"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute a tag
         * @description Works like muting an author.
         */
        put: operations["muteTag"];
        post?: never;
        /** Unmute a tag */
        delete: operations["unmuteTag"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/items": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /**
         * List what an agent has hidden
         * @description The muted items of the profile with their content, what was hidden last first: items, posts, replies, and
         *     groups of items, which a `hide` mutes together with the item. `item` is absent from a group and a reply, and from what
         *     does not exist any more or the agent may not see now; each can be shown again by its id, with
         *     `DELETE /v1/agents/{agent_id}/muted/items/{item}`. Nobody else but an admin can list them. Nothing counts
         *     as shown.
         */
        get: operations["getMutedItems"];
        put?: never;
        post?: never;
        delete?: never;
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The item or group that is not shown. Slashes need not be escaped.
                 * @example post/77
                 */
                item: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute an item
         * @description Works like muting an author. The limit is 10,000 items and groups, with 524,288 characters
         *     in total; those that are hidden by events count, too. A hide removes the end of a mute.
         */
        put: operations["muteItem"];
        post?: never;
        /**
         * Unmute an item
         * @description Also unmutes the group of the item, which a `hide` has muted with it, and takes back what was learned from the hide.
         */
        delete: operations["unmuteItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/muted/words/{word}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items and posts with this word, or with the words of this phrase next to each other, are not
                 *     shown. Slashes need not be escaped.
                 * @example spoiler
                 */
                word: components["schemas"]["MutedTerm"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Mute a word
         * @description Leaves out what has the word in its title, summary, caption or a tag: from all feeds,
         *     timelines, groups, replies, related items, badges and streams. The agent's own posts stay, and
         *     so do single posts and authors' pages. Words are compared as those of keywords: whole words, in
         *     any case. Otherwise it works like muting an author. At most 100 words, with 2,000 characters in
         *     total.
         */
        put: operations["muteWord"];
        post?: never;
        /** Unmute a word */
        delete: operations["unmuteWord"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete what was learned
         * @description Deletes what was learned from the agent's clicks, likes, dislikes and hides, and the record
         *     of these. The declared profile stays. Repeating the call changes nothing.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase an agent
         * @description Deletes the data stored about the agent: the profile, what was learned, the session, the
         *     pending set, the record of their clicks and likes, and items that have the agent as
         *     `author_id`. On a server with posts, it also deletes the card, posts, follows, blocks,
         *     circles, memberships, invitations, mutes and likes. The card and posts are removed when the
         *     call returns; the rest, too, except that thousands of entries take some seconds. A group or
         *     an event of the agent passes to the member who has been in it longest, or ends if there is
         *     none.
         *
         *     What clicks and likes have added to the counts of items stays, without the agent. Acts that
         *     another server has not processed yet are not learned any more. Filters of the last seven
         *     days still contain which items the agent was shown, but cannot be read back. Repeating the
         *     call changes nothing.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List items
         * @description Lists the stored items without posts, newest first. An item that does not change between
         *     pages is neither skipped nor repeated. Writes of the last second may be missing. An external
         *     index can be listed only if it has a field for the ids of items.
         */
        get: operations["getItems"];
        put?: never;
        /**
         * Store items
         * @description Takes any number of items, as JSON lines or as one JSON array, and stores them as they arrive.
         *     Each item is accepted or rejected separately. An item replaces the stored item with its id,
         *     whatever the `update_time` of both, and is not shown again to readers who saw the old one. So
         *     an interrupted upload can simply be sent again. With `if_newer`, an item replaces another
         *     only if its `update_time` is later. A `null` in an optional field means that it is absent.
         *
         *     The server detects from the body whether it is lines or an array, whatever the
         *     `Content-Type`. A UTF-8 byte order mark at the beginning is ignored. An empty body is
         *     rejected, but `[]` is not. The body may have 64 MiB, both compressed and uncompressed, and
         *     an item 256 KiB. An error that ends the upload early has the report of the items stored
         *     before it in `data`. If Elasticsearch is overloaded or its disk is full, the server retries
         *     for three seconds, and then returns 503 with such a report. An item is rejected only
         *     because of its content.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set likes and comments of many items
         * @description Replaces the stored counts of items with those of another system, sent as JSON lines or as
         *     one JSON array. Other fields stay, and Freshet's own counts of clicks and likes are not
         *     affected. An entry for an unknown item, or for a post, is rejected, and the others take
         *     effect. If an item has several entries, the last one counts. Bodies, limits and reports are
         *     as for `POST /v1/items`. The call may be repeated.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. Slashes may be escaped as `%2F`, but need not be.
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
         * @description The item is not shown any more, even from existing sessions. Posts are rejected; use `DELETE /v1/posts/{id}`.
         */
        delete: operations["deleteItem"];
        options?: never;
        head?: never;
        /**
         * Change fields of an item
         * @description A JSON merge patch (RFC 7396): its fields replace those of the stored item, null removes a
         *     field, objects are merged, and fields that are left out stay. The result is validated like
         *     an upload. The change is atomic: a concurrent change or upload is never partly undone.
         *     Freshet's own counts of clicks and likes are not affected. Posts are rejected; use
         *     `PATCH /v1/posts/{id}`.
         */
        patch: operations["patchItem"];
        trace?: never;
    };
    "/v1/items/{id}/related": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of an item or a post that the agent may see. Slashes may be escaped as `%2F`, but need not be, except the last one of an id that ends in `/related`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        /**
         * Read what is related to an item
         * @description First come items and posts that its readers have read as well, those with the most in common
         *     first: only what at least three people connect with it. Then come those that share a tag, as a
         *     refresh would order them for a reader interested in these tags; while no ranking uses co-readers
         *     (`co_read.weight`), all are of this kind. What the agent was shown before is included. Its own
         *     items are not, nor what it has muted or hidden, or may not see. Nothing is recorded: report
         *     what was seen with `POST /v1/impressions`, so that acts on it count.
         */
        get: operations["getRelated"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/explain": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain an agent's feed
         * @description Runs the stages of a refresh without changing anything. Returns every candidate with the
         *     parts of its score and its outcome, the number of candidates per outcome, and the time of
         *     each stage. `ranking` and `at` replace the parameters and the time. For home, the response
         *     also has the source that the pattern assigns each position to, and the source that fills it.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Creates a new version, which is in force on every server within two seconds. Parameters that
         *     are left out stay as they are. `experiments` is the complete list of experiments to run. A
         *     call that names neither is rejected. The share of a running experiment can be changed, but
         *     not its parameters: end it, or use another name. A name that is used again starts at zero in
         *     the report. With `If-Match`, the call fails if the ranking was changed in the meantime.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** List the versions of the ranking */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revert to an older ranking
         * @description Creates a new version with the ranking of the named one, including its experiments and their
         *     agents. Stored feeds stay as they are. The history keeps all versions.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** Read the report on the experiments */
        get: operations["getReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** List the stored feeds */
        get: operations["getFeeds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds/{name}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /** @description The name of a stored feed, which readers send as `feed`. It cannot be one that has another meaning: `for_you`, `home`, `named`, `guest`, `tag`, `lang`. */
                name: components["schemas"]["StoredFeedName"];
            };
            cookie?: never;
        };
        /** Read a stored feed */
        get: operations["getStoredFeed"];
        /**
         * Store a feed
         * @description Stores the feed, or replaces the one of that name. It has the items that meet each condition
         *     of `all`, at least one of `any`, if there are some, and none of `none`. It is in force on
         *     every server within two seconds, as a new version of the ranking: `GET /v1/ranking/history`
         *     lists it. Reverting to an older version changes no feeds.
         */
        put: operations["putStoredFeed"];
        post?: never;
        /** Delete a stored feed */
        delete: operations["deleteStoredFeed"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Ranks by `a` and by `b` for several agents, as of the same time, and reports how far the
         *     lists differ. Nothing is shown to readers, and nothing is changed. Items that an agent has seen
         *     are not filtered.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Ranks as of the time of each click, and returns the position that each ranking would have
         *     given to the item. It uses the present catalog and profiles, without live popularity and co-readers, and without
         *     what was learned about a reader at the click or after it.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Creates the promotion or replaces the one with this id. It takes effect on every server
         *     within about five seconds. The item or post need not exist yet; the promotion does not run
         *     while it does not exist, or is a post that is not public.
         */
        put: operations["putPromotion"];
        post?: never;
        /**
         * Delete a promotion
         * @description Existing sessions may still show the item, but this is not counted for the promotion any more.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** List jobs */
        get: operations["getJobs"];
        put?: never;
        /**
         * Update the data derived from a post
         * @description Enqueues jobs that update the post's entries in timelines and outboxes, and its item. Use it
         *     if derived data is wrong.
         */
        post: operations["postJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/rederive": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Update the data derived from all posts
         * @description Makes lists and items agree with the posts, as after a restoration of one of them, step by step: the first call
         *     drops the lists, which are built again when they are read; the following calls enqueue jobs that make the items of
         *     public posts again, and remove items that belong to none. Call it with the `next_cursor` of each answer until that
         *     is null; `freshet jobs rederive --all` does so. A call can be repeated.
         */
        post: operations["rederive"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * Delete a job
         * @description The data that the job would have updated stays as it is until the next change.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
         * @description Makes the job due now and resets its attempts, whatever its state. A dead job is revived; a running job runs again.
         */
        post: operations["retryJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read what has changed
         * @description The changes of posts, follows, likes, blocks and groups, made by calls or events, for another system:
         *     a search index, a push service, a moderation queue. Each is written in the transaction that
         *     makes it, so none is missing. They name posts and agents, and have no content.
         *
         *     A consumer stores the `cursor` of the last change that it has processed, and continues
         *     `after` it, on any server. Then it gets each change once, and after a crash again only those
         *     that it had not stored. Changes of one post, of two agents, and of one agent in a group are in
         *     their order. Any number of consumers read independently. What names an erased agent is left out.
         *
         *     With `Accept: text/event-stream` the answer is a stream of server-sent events, with the cursor
         *     as `id`; it ends after about half an hour. Otherwise it is lines of JSON, at last one with only
         *     the `cursor` to continue with; without it the answer was cut off. A stream, or a call with
         *     `wait`, counts as one of the server's streams; 16 of these may be open on one server.
         *
         *     A change has `cursor`, `type` and `data`. The types are follow.created, follow.removed,
         *     like.created, like.removed, post.created, post.updated (an edit, or another report of a post),
         *     post.deleted, reply.created, mention.created, block.created, block.removed, member.joined,
         *     member.left (of groups and events), invitation.created, report.created, post.held, post.removed and
         *     post.restored (by moderators); later versions may have others. The
         *     fields of `data` are: `at`, when it was made, in Unix seconds; `id`, the post, or the group or
         *     event, or the item that is reported; `agent_id`, who follows, likes, blocks, joins, leaves or reports, who is mentioned or invited, or
         *     the author of the post that a reply answers; `author_id`, who is followed, or the author of the
         *     post, left out if it ended because its author was erased; `other_id`, who is blocked or reported;
         *     `owner_id`, who owns the group of an invitation; `reply_to`, the post that a reply answers.
         *
         *     Changes are kept for `changes.retention` (3 days); 403 if that is 0.
         */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/diff": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a reload would change
         * @description Compares the configuration in force in this server with the one that it would load now from
         *     its file, its environment and its flags. Values of files that a variable `…_FILE` names
         *     and that the server reads again by itself, such as passwords, are left out.
         */
        get: operations["getConfigDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/reload": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reload the configuration
         * @description Does what the signal SIGHUP does: loads the configuration and puts into force what may change
         *     while the server runs. Settings with the effect `restart` keep their values. If the
         *     configuration cannot be used, nothing changes. Repeating the call is harmless. It concerns
         *     this server only: call each one at its own address.
         */
        post: operations["reloadConfig"];
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
        /** Show the feed page, a sample app */
        get: operations["feedPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the console, where people see how the feed runs and try other rankings
         * @description The page reads its figures from admin routes, so it asks for the admin token. The address of earlier versions, /lab, redirects to it.
         */
        get: operations["console"];
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
        /** Show this description as a web page */
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
        /** Read a file of the pages */
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
         * Check that the process is running
         * @description Does not check dependencies; see `/readyz`.
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
         * Check that the server is ready
         * @description Checks every dependency. While an optional dependency is down, responses are degraded, but
         *     the server is ready. Elasticsearch is optional once it has answered a search since the
         *     server's start. A server that is about to stop is not ready and lists no dependencies, but
         *     still handles calls for `server.drain`. A server that starts names the dependency that it
         *     waits for.
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
        /** Read metrics for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the servers did in the last hour and the last seven days
         * @description A point for each minute of the last hour and each hour of the last seven days, of all servers
         *     together, and the servers that run. The figures are those of the metrics, which each server
         *     reads at the end of each minute. Readers and items are counted by their stores when they are
         *     asked for.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/readers": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Read how many readers have acted on an item
         * @description Counts distinct readers. Who was shown an item is stored by reader, and cannot be counted by
         *     item.
         */
        get: operations["getReaders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/system": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** Read the version, the stores and the settings of the server */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/doctor": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the dependencies of the server
         * @description The same checks as `freshet doctor`, by the server that answers. They try writes, which they
         *     remove, and change nothing else. They may take some seconds.
         */
        post: operations["postDoctor"];
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
         * Read this description
         * @description The description does not change while a server runs, so it has an `ETag`.
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
             * @description `refresh` returns the best unseen items now, `load_more` the next page of the last refresh.
             * @enum {string}
             */
            action: "refresh" | "load_more";
            /**
             * Format: int64
             * @description Maximum number of items.
             * @default 20
             */
            limit?: number;
            /**
             * @description Report new items without changing anything. Only with `refresh`.
             * @default false
             */
            silent?: boolean;
            request_id?: components["schemas"]["RequestID"];
            /**
             * @description Return the reasons for each item in `in_feed.why`. A retry with the same `request_id` may use another value; reasons are computed for each call.
             * @default false
             */
            why?: boolean;
            feed?: components["schemas"]["FeedName"];
        };
        /** @description An item of a page. Any other field is a business field, returned as it was uploaded. */
        FeedItem: components["schemas"]["Item"] & {
            in_feed?: components["schemas"]["FeedItemInFeed"];
        };
        /**
         * @description The strongest reasons for the item's score, by the reader's present profile and ranking,
         *     the strongest first; only if the call has `why`. An interest, a keyword or a learned
         *     feature counts by its share of the relevance; freshness, popularity and co-readers count by
         *     the share of the score that would be missing without them. Absent if there are no reasons.
         */
        Reasons: components["schemas"]["ReasonsEntry"][];
        FeedAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Page"];
        };
        Page: {
            /** @description The items, best first. */
            items: components["schemas"]["Content"][];
            /** @description Whether the session has more items. If it has none, the next `load_more` refreshes and may find more; only an empty `items` means that nothing is left. */
            has_more: boolean;
            /** @description The `request_id` of the call, if it had one. */
            request_id?: components["schemas"]["RequestID"];
            /**
             * Format: int64
             * @description Only for a silent refresh: the number of unseen items that are newer than the last refresh, and of posts that have arrived since. For a reader without a refresh in the last eight days, the number of those younger than a day, 99 at most.
             */
            new_count?: number;
            /** @description The reader is new: no earlier refresh of any feed has ended, and nothing was learned about them. The response to the first refresh has it, and so do silent refreshes before that. Absent otherwise, and in degraded responses. */
            new_reader?: boolean;
            /**
             * @description The parts that the response lacks. `recall`: the items come from an earlier search or
             *     session. `dedup`: an item may have been shown before. `session`: the next
             *     `load_more` refreshes, or the page is short because the session could not be read.
             *     `catalog`: items whose content could not be read are missing. `social`: the social
             *     store is unavailable; posts are cached copies of public posts, at most an hour old,
             *     without facts about the reader. `timeline`: a post of the last seconds may be
             *     missing. `why`: the reasons are missing. `co_readers`: co-readers do not count. `following`, `trending`, `discovery`,
             *     `promoted`: this source of home is outdated or missing.
             */
            degraded?: ("recall" | "dedup" | "session" | "catalog" | "timeline" | "social" | "why" | "following" | "trending" | "discovery" | "promoted" | "co_readers")[];
        };
        /** @description An id chosen by the client: a new one for each call, the same one for its retries. For a minute, the same id of the agent in another call is refused with 40901, also in the other feed. */
        RequestID: string;
        /** @description An item or a public post, with all of its fields. The id of a post begins with `post:`. */
        GuestEntry: {
            id: components["schemas"]["ItemID"];
            /** @description Only of items. */
            title?: string;
            summary?: string;
            /**
             * Format: int64
             * @description Unix seconds. Only of items.
             */
            update_time?: number;
            image_url?: string;
            author_id?: string;
            /** @description Only of posts. */
            caption?: string;
            /**
             * Format: int64
             * @description Unix seconds. Only of posts.
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
            type: "click" | "like" | "unlike" | "dislike" | "hide";
            id: components["schemas"]["ItemID"];
        };
        PostAuthor: {
            id: components["schemas"]["AgentID"];
            /** @description `""` if the author has set none. */
            name: string;
            image_url: string;
        };
        NoData: Record<string, never>;
        PostID: string;
        /**
         * @description Who may react, among those who may see the post, or reply, among those in its audience now. `audience`: members of the circles that the post is addressed to; without circles the same as `public`. The author also may, except with `none`.
         * @default public
         * @enum {string}
         */
        Right: "public" | "followers" | "audience" | "none";
        NewPost: {
            /** @description The text. It must not be blank unless the post has images. */
            caption?: string;
            tags?: components["schemas"]["Term"][];
            /** @description Descriptions of the files of a form, in the same order. Describe all files, or leave this out. */
            images?: components["schemas"]["NewPostImagesEntry"][];
            audience?: components["schemas"]["NewPostAudience"];
            /** @description The post or reply to reply to. Leave out `audience` and `reply`. `mentions` do not make a reply visible to anyone. */
            reply_to?: components["schemas"]["PostID"];
            /** @description Agents who may see the post regardless of the audience. Names in the caption are not mentions. */
            mentions?: components["schemas"]["AgentID"][];
            reply?: components["schemas"]["Right"];
            react?: components["schemas"]["Right"];
        };
        Post: {
            id: components["schemas"]["PostID"];
            /**
             * Format: int64
             * @description Unix seconds. Determines the position in every timeline.
             */
            created_at: number;
            /**
             * Format: int64
             * @description Unix seconds of the last edit. Absent if the post was never edited.
             */
            edited_at?: number;
            caption: string;
            /** @description The tags given, then the hashtags of the caption, as written, without duplicates, at most 64. */
            tags?: string[];
            /** @description The images. Absent if there are none. */
            images?: components["schemas"]["PostImagesEntry"][];
            audience: components["schemas"]["PostAudience"];
            /** @description The post or reply that this one answers. Only in replies. */
            reply_to?: components["schemas"]["PostID"];
            /** @description The post that the thread of replies belongs to. Only in replies. */
            root?: components["schemas"]["PostID"];
            mentions?: components["schemas"]["AgentID"][];
            /** @description Who may reply. For a reply, as it was for the root post when the reply was published; `in_feed.can_reply` is about now. */
            reply: components["schemas"]["Right"];
            react: components["schemas"]["Right"];
            /** @description The system that the post came from. Absent for posts created on this server. */
            origin?: string;
            url?: string;
            object_type?: string;
            author: components["schemas"]["PostAuthor"];
            /** Format: int64 */
            likes: number;
            /**
             * Format: int64
             * @description Number of replies, also of those that the caller may not see. If there are none, the number that another system reported. 0 for a reply.
             */
            comments: number;
            /** @description Only in `GET /v1/posts/{id}`: the parts that the response lacks. Absent if it is complete. */
            degraded?: "social"[];
            in_feed?: components["schemas"]["PostInFeed"];
        };
        /** @description An item or a post. The id of a post begins with `post:`. */
        Content: components["schemas"]["Post"] | components["schemas"]["FeedItem"];
        AuthorInfo: {
            id: components["schemas"]["AgentID"];
            name?: string;
            /** @description Of an uploaded image a path of this server, `/media/{key}`. */
            image_url?: string;
            bio?: string;
            /** @description As it was set with the card. Only the author gets it. */
            suggest_from_follows?: boolean;
            /** @description Always false. Only an author who does not want to be recommended gets it. */
            recommend?: boolean;
            /**
             * Format: int64
             * @description When the author's suspension ends, in Unix seconds. Only the author gets it. Absent if it is not suspended.
             */
            suspended_until?: number;
            /** @description The reason of the suspension, if there is one. Only the author gets it. */
            suspended_for?: string;
            /**
             * Format: int64
             * @description Number of posts that the caller may see, without replies. Of posts that only a circle, a group or a mention lets the caller see, at most 1,000 of each kind are counted.
             */
            posts: number;
            /**
             * Format: int64
             * @description All of them, also those whom the caller blocks or is blocked by.
             */
            followers: number;
            /** Format: int64 */
            following: number;
            /** @description Whether the caller follows the author. */
            is_following: boolean;
            /** @description Whether the author follows the caller. */
            follows_you: boolean;
        };
        /** @description A person in a list. Of one who is unknown, or who blocks the caller, only the id is set. */
        AgentCard: {
            id: components["schemas"]["AgentID"];
            name: string;
            /** @description Of an uploaded image a path of this server, `/media/{key}`. */
            image_url: string;
            /** Format: int64 */
            followers: number;
            /** Format: int64 */
            following: number;
            /** @description Whether the caller follows them. */
            is_following: boolean;
            /** @description Whether they follow the caller. */
            follows_you: boolean;
            /** @description The caller blocks them. Then only name and image are set. */
            is_blocked?: boolean;
        };
        AuthorPage: {
            /** @description The posts, or tiles with `view=grid`, newest first. */
            items: (components["schemas"]["Post"] | components["schemas"]["Tile"])[];
            /** @description The `cursor` for the next page: the position of the last post that was examined and that the reader may see, or, after a page without any, `post:-:<Unix seconds>`, which names no post. Null after an empty last page. */
            next_cursor: string | null;
            has_more: boolean;
            /** @description The parts that the response lacks, such as `session`. Absent if it is complete. */
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
            caption: string;
            /** Format: int64 */
            image_count: number;
            audience: components["schemas"]["TileAudience"];
            /** @description The post or reply that it answers. Only in replies. */
            reply_to?: components["schemas"]["PostID"];
            /** @description The post that the thread of replies belongs to. Only in replies. */
            root?: components["schemas"]["PostID"];
            thumbnail?: components["schemas"]["TileThumbnail"];
        };
        /** @description An author whom the caller blocks. */
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
             * @description Number of members. The same for every caller, also if the list leaves some out.
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
            /**
             * Format: int64
             * @description When the newest post was published that the caller sees through the circle, in Unix seconds. Absent if there is none, and for who is neither the owner nor a member.
             */
            newest_post_at?: number;
            /** @description Whether the caller has muted the group or event. Absent if not. */
            muted?: boolean;
        };
        /**
         * @description `circle`: private to its owner; members do not know of it. `group`: members know of it. `event`: a group that ends at `until`. Default `circle`. It cannot be changed.
         * @enum {string}
         */
        CircleKind: "circle" | "group" | "event";
        /**
         * @description Who may post to a group or an event. Default `members` for a new one; left out in a PUT or PATCH, it stays.
         * @enum {string}
         */
        CirclePost: "owner" | "members";
        /**
         * @description Which posts members of a group or an event see: those since they joined, or all. Default `joined`. It cannot be changed.
         * @enum {string}
         */
        CircleHistory: "joined" | "all";
        /**
         * @description Who may list the members of a group or an event. Default `owner`. It cannot be changed.
         * @enum {string}
         */
        CircleMembersVisibleTo: "owner" | "members";
        /**
         * @description What a notification tells of.
         * @enum {string}
         */
        NotificationKind: "follow" | "like" | "reply" | "mention" | "invitation" | "joined";
        NotificationPage: {
            /** @description The newest first. A page may be short although there is more. */
            notifications: components["schemas"]["Notification"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
            /**
             * Format: int64
             * @description The number of unread notifications on all pages, 99 for that many or more.
             */
            unread: number;
            /**
             * Format: int64
             * @description Marks all that were made before this answer as seen.
             */
            marker: number;
            /** @description The parts that the response lacks; `catalog` if it is not known whom the agent has muted. Absent if it is complete. */
            degraded?: string[];
        };
        Notification: {
            kind: components["schemas"]["NotificationKind"];
            /** @description Those who did it last, the latest first. */
            actors: components["schemas"]["PostAuthor"][];
            /**
             * Format: int64
             * @description The number of all actors.
             */
            count: number;
            /** @description What it is about. Absent for follows, invitations and joinings. */
            post?: components["schemas"]["Tile"];
            /** @description The newest reply. Only for `reply`. */
            reply?: components["schemas"]["Tile"];
            circle?: components["schemas"]["NotificationCircle"];
            /**
             * Format: int64
             * @description When the newest was made, in Unix seconds.
             */
            at: number;
            /**
             * Format: int64
             * @description Marks it and all older ones as seen.
             */
            marker: number;
            /** @description Whether something in it is newer than what the agent has seen. */
            unread: boolean;
        };
        Export: {
            /** @enum {string} */
            state: "none" | "running" | "ready" | "fetched" | "failed";
            /**
             * Format: int64
             * @description When it was asked for, in Unix seconds. Absent with `none`.
             */
            asked_at?: number;
            /**
             * Format: int64
             * @description The length of the file. Only with `ready` and `fetched`.
             */
            bytes?: number;
            /**
             * Format: int64
             * @description With `ready`: until when it can be fetched, in Unix seconds.
             */
            until?: number;
            /**
             * Format: int64
             * @description With `fetched` and `failed`: when another one can be asked for, in Unix seconds.
             */
            next_at?: number;
            /** @description With `failed`: why, and what to do. */
            reason?: string;
        };
        /**
         * @description Why something is reported.
         * @enum {string}
         */
        ReportReason: "spam" | "harassment" | "hate" | "violence" | "sexual" | "self_harm" | "illegal" | "misinformation" | "impersonation" | "other";
        NewReport: {
            reason: components["schemas"]["ReportReason"];
            /** @description What moderators should know. */
            details?: string;
        };
        ModerationObject: {
            /**
             * @description `post`, also for a reply; `circle` for a group or an event.
             * @enum {string}
             */
            kind: "post" | "item" | "author" | "circle";
            /** @description That of a post begins with `post:`. Those of authors and circles have the characters of agents' ids. */
            id: components["schemas"]["ItemID"];
        };
        ModerationAction: {
            object: components["schemas"]["ModerationObject"];
            /** @enum {string} */
            action: "hold" | "remove" | "restore" | "suspend" | "lift" | "dismiss";
            /** @description The author of the post, or the suspended agent, sees it. */
            reason?: string;
            /**
             * Format: int64
             * @description The end of a suspension, in Unix seconds. Only for `suspend`, and in the future.
             */
            until?: number;
        };
        ReportedPage: {
            objects: components["schemas"]["ReportedObject"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        ReportedObject: {
            /** @enum {string} */
            kind: "post" | "item" | "author" | "circle";
            id: string;
            /** @description Whether somebody has reported it since it was decided. */
            open: boolean;
            /**
             * Format: int64
             * @description The number of agents who have reported it.
             */
            count: number;
            /** @description How many gave each reason. */
            reasons: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description When it was reported last, in Unix seconds.
             */
            latest: number;
            /** @description The last action about it. Absent if there was none. */
            decision?: string;
            /**
             * Format: int64
             * @description Unix seconds. Absent with `decision`.
             */
            decided_at?: number;
            /** @description The newest reports. */
            reports: components["schemas"]["ReportedObjectReportsEntry"][];
        };
        ModeratedPage: {
            posts: components["schemas"]["ModeratedPost"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        ModeratedPost: {
            id: components["schemas"]["PostID"];
            author: components["schemas"]["AgentID"];
            /**
             * Format: int64
             * @description Unix seconds.
             */
            created_at: number;
            /**
             * Format: int64
             * @description Unix seconds. Absent if it was not edited.
             */
            edited_at?: number;
            caption: string;
            tags?: string[];
            images?: components["schemas"]["ModeratedPostImagesEntry"][];
            mentions?: components["schemas"]["AgentID"][];
            reply_to?: components["schemas"]["PostID"];
            root?: components["schemas"]["PostID"];
            audience: components["schemas"]["ModeratedPostAudience"];
            /**
             * @description What moderators have decided. Absent for nothing.
             * @enum {string}
             */
            state?: "held" | "removed";
            /** @description The reason of the decision. */
            reason?: string;
            /** Format: int64 */
            likes: number;
            /** Format: int64 */
            comments: number;
            /**
             * Format: int64
             * @description The number of agents who have reported it.
             */
            reports: number;
            /**
             * Format: int64
             * @description When its author's suspension ends, in Unix seconds. Absent if it is not suspended.
             */
            author_suspended_until?: number;
        };
        AuditPage: {
            entries: components["schemas"]["AuditPageEntriesEntry"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description All fields are optional. `{}` is the profile of an unknown reader. */
        Profile: {
            /** @description Tags, in any spelling, with their weights. The weights of an item's tags are added. Of two spellings of one tag, the higher weight counts. */
            interests?: {
                [key: string]: number;
            };
            /**
             * @description Words and phrases that are matched in title and summary, together at most 1,024
             *     characters. A keyword that is a string has the weight 1.
             */
            keywords?: components["schemas"]["Keyword"][];
            /** @description BCP 47 tags. Only items in these languages, and items without a language, are shown. `en` matches `en-US`; `zh-Hans` does not match `zh-Hant`. Empty means all languages. */
            langs?: components["schemas"]["Term"][];
            /** @description Items of these authors are not shown. */
            muted_authors?: components["schemas"]["Term"][];
            /** @description Items with one of these tags, in any spelling, are not shown. */
            muted_tags?: components["schemas"]["Term"][];
            /**
             * @description Items or groups that are not shown, the latest last: at most 10,000, with 524,288
             *     characters in total. A hide adds the item and its group. None is removed except by the
             *     agent. A PUT without this field keeps the stored ones.
             */
            muted_items?: components["schemas"]["ItemID"][];
            /**
             * @description Words and phrases: items and posts that have one in the title, summary, caption or a tag are
             *     not shown. Together at most 2,000 characters.
             */
            muted_words?: components["schemas"]["ProfileMutedWordsEntry"][];
            muted_until?: components["schemas"]["ProfileMutedUntil"];
            /**
             * @description What was learned from the agent's clicks, likes, dislikes and hides on items that they
             *     were shown, the strongest first. Not part of the declared profile: a PUT ignores it.
             */
            readonly learned?: components["schemas"]["Learned"][];
        };
        /**
         * @description A learned feature of items, and its effect on their relevance by the agent's present ranking:
         *     `score` is added, or the relevance is multiplied by `factor`. Both are absent if the ranking
         *     gives the feature no weight.
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
             * @description Number of clicks since the feature was first stored.
             */
            clicks?: number;
            /** Format: int64 */
            likes?: number;
            /** Format: int64 */
            dislikes?: number;
            /** Format: int64 */
            hides?: number;
        };
        /** @description It has a letter, a digit or an emoji, and is not only one of the commonest words, such as `the`. */
        MutedTerm: string;
        /** Format: date-time */
        MuteEnd: string;
        Keyword: components["schemas"]["Term"] | components["schemas"]["KeywordObject"];
        Term: string;
        /**
         * @description One piece of content. Any other field is a business field of any type, which is stored and
         *     returned but not searched. Its name must not have a blank part between dots, be `in_feed`
         *     or one of Elasticsearch's own names (`_id`, `_source`, …), begin with `freshet_`, or
         *     lie within one of the fields below (`title.x`). A field is returned as it was sent, also if
         *     it is `""`, `0` or `[]`, and is absent if it was not sent.
         */
        Item: {
            id: components["schemas"]["ItemID"];
            /** @description A reader is shown only one item of a group. Left out or `""`, the id is the group. */
            group_id?: string;
            /** @description Matched against keywords of profiles. */
            title: string;
            /**
             * Format: int64
             * @description Unix seconds. Newer items score higher. An item dated in the future is not shown before that time.
             */
            update_time: number;
            /** @description Matched against keywords of profiles. */
            summary?: string;
            /** @description A URL with `https://` or `http://`, or without a scheme. */
            url?: string;
            /** @description Same form as `url`. */
            image_url?: string;
            author_id?: string;
            /** @description A BCP 47 tag. An item without a language matches every reader. */
            lang?: string;
            tags?: components["schemas"]["Term"][];
            /** Format: int64 */
            likes?: number;
            /**
             * Format: int64
             * @description Counts twice as much as `likes` in popularity.
             */
            comments?: number;
        } & {
            [key: string]: unknown;
        };
        ItemList: {
            items: components["schemas"]["Item"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description Counts of a stored item. Send one or both; a count that is left out stays. */
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
             * @description Number of accepted items that were replaced by a later item of the upload with the same id. Absent if 0.
             */
            replaced?: number;
            /**
             * Format: int64
             * @description Number of accepted items that `if_newer` skipped because the stored item is not older. Absent if 0.
             */
            kept?: number;
            /** Format: int64 */
            rejected: number;
            /** @description The first 1,000 rejected entries. */
            errors: components["schemas"]["UploadReportErrorsEntry"][];
        };
        ExplainRequest: {
            agent_id: components["schemas"]["AgentID"];
            feed?: components["schemas"]["FeedName"];
            /**
             * Format: int64
             * @description Maximum number of items on the page.
             * @default 20
             */
            limit?: number;
            /** @description Also explain the position or absence of this item, even if it is no candidate. */
            item?: components["schemas"]["ItemID"];
            /** @description Changes to the agent's ranking parameters. */
            ranking?: components["schemas"]["RankingChange"];
            /** @description The time of the refresh. Default: now. */
            at?: components["schemas"]["Moment"];
        };
        Explanation: {
            agent_id: components["schemas"]["AgentID"];
            feed: components["schemas"]["FeedName"];
            /** Format: int64 */
            limit: number;
            /** @description The experiment that the agent is in, or `control`. */
            variant: string;
            ranking: components["schemas"]["Ranking"];
            /** @description Whether the call has changed the parameters. */
            proposed: boolean;
            /**
             * Format: date-time
             * @description The time at which the decay is evaluated.
             */
            origin: string;
            /** @description The candidates, best first. In home they are grouped by source, because scores of different sources are not comparable. */
            candidates: components["schemas"]["Explained"][];
            /**
             * Format: int64
             * @description Number of candidates that are counted but not listed: those after the first 2,000 that a filter, the pending set or a better item of their group excludes. Absent if all are listed.
             */
            unlisted?: number;
            left_out?: components["schemas"]["LeftOut"];
            /** @description The page is not full although recall has more candidates, because a tenth of `server.request_timeout` has passed. Absent otherwise. */
            out_of_time?: boolean;
            item?: components["schemas"]["ExplanationItem"];
            counts: components["schemas"]["ExplanationCounts"];
            times_ms: components["schemas"]["ExplanationTimesMs"];
            /** @description The parts that the refresh would lack, as in `POST /v1/feed`. */
            degraded?: ("recall" | "dedup" | "session" | "catalog" | "timeline" | "social" | "following" | "trending" | "discovery" | "promoted")[];
        };
        Explained: components["schemas"]["ExplainedFields"];
        ExplainedFields: {
            /**
             * Format: int64
             * @description Rank from 1 before filtering, in home within the source; items that only exploration has found come last. 0 for an item that is no candidate.
             */
            rank: number;
            id: components["schemas"]["ItemID"];
            group: string;
            /** @description The recall source of the item. In home `following`, `trending`, `discovery` or `promoted`. */
            source: string;
            title?: string;
            /** Format: int64 */
            update_time: number;
            /**
             * Format: int64
             * @description Seconds from `update_time` to `origin`.
             */
            age: number;
            /**
             * Format: double
             * @description Relevance × decay × popularity × co-readers. For items from following, trending and promoted in home: base × decay × popularity × affinity.
             */
            score: number;
            /** Format: double */
            decay: number;
            /**
             * Format: double
             * @description The base of the source. Only for following, trending and promoted.
             */
            base?: number;
            affinity?: components["schemas"]["ExplainedFieldsAffinity"];
            relevance?: components["schemas"]["ExplainedFieldsRelevance"];
            popularity?: components["schemas"]["ExplainedFieldsPopularity"];
            co_readers?: components["schemas"]["ExplainedFieldsCoReaders"];
            /**
             * @description `paged`: on the page. `kept`: in the session, for later pages. `seen`: the agent was
             *     already shown it. `pending`: given out recently. `muted`: excluded by mutes or
             *     languages. `gone`: deleted, or changed since it was indexed. `group`: replaced by a
             *     better item of its group. `same_story`: an item of its page has nearly the same title,
             *     and the session is full without this one. `outside`, in home: the session is full
             *     before it. Only for the item that the call named: `unknown`, it does not exist;
             *     `own`, written by the agent; `future`, dated later; `outside`, ranked below all
             *     candidates; `unfound`, not indexed yet.
             * @enum {string}
             */
            outcome: "paged" | "kept" | "seen" | "pending" | "muted" | "gone" | "group" | "same_story" | "unknown" | "own" | "future" | "outside" | "unfound";
            /** @description Only for `seen` and with `shown_before`: the day on which it was shown. */
            day?: string;
            /** @description The item was shown on `day` and is shown again because nothing unseen is left (`dedup.when_exhausted: oldest`), or a named feed shows again what another feed has shown. Absent otherwise. */
            shown_before?: boolean;
            /** @description For `group` and `same_story`, the item that replaces this one. For a placed item, the item of its page with nearly the same title because of which it was set aside at first. */
            better?: string;
            variety?: components["schemas"]["ExplainedFieldsVariety"];
        };
        /** @description How many items of the page up to this one, including it, share the author, site or first tag, and the resulting factor. */
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
            /** @description Where the keyword occurs. In the summary alone it adds only a part of its weight (`keywords.summary`). */
            in?: components["schemas"]["KeywordPlace"];
        };
        /** @enum {string} */
        KeywordPlace: "title" | "summary";
        /** @description RFC 3339 or Unix seconds, from 1970 on. */
        Moment: string | number;
        /** @description Score = relevance × decay × popularity. */
        Ranking: {
            decay: components["schemas"]["RankingDecay"];
            popularity: components["schemas"]["RankingPopularity"];
            /**
             * Format: double
             * @description The relevance of every item before interests and keywords are added.
             */
            base: number;
            keywords: components["schemas"]["RankingKeywords"];
            diversity?: components["schemas"]["RankingDiversity"];
            explore?: components["schemas"]["RankingExplore"];
            learned?: components["schemas"]["RankingLearned"];
            co_read?: components["schemas"]["RankingCoRead"];
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
        /** @description The parameters to change. The others stay. */
        RankingChange: {
            decay?: components["schemas"]["RankingChangeDecay"];
            popularity?: components["schemas"]["RankingPopularity"];
            /**
             * Format: double
             * @description The relevance of every item before interests and keywords are added.
             */
            base?: number;
            keywords?: components["schemas"]["RankingKeywords"];
            diversity?: components["schemas"]["RankingDiversity"];
            explore?: components["schemas"]["RankingExplore"];
            learned?: components["schemas"]["RankingLearned"];
            co_read?: components["schemas"]["RankingCoRead"];
            home?: components["schemas"]["RankingHome"];
        };
        /**
         * @description One of Elasticsearch's decay functions, multiplied by `weight`. It is 1 up to `offset` and
         *     `decay` at `offset` + `scale`. `exp` with a decay of 0.5 has the half-life `scale`;
         *     `linear` falls to 0. A `constant` has only a weight.
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
             * @description The factor of the curve. Weights need not add up to 1.
             * @default 1
             */
            weight?: number;
        };
        /**
         * @description The parts of the ranking that do not count. `live_popularity` and `co_readers`: the time is more than ten minutes
         *     ago, and the readers who had clicked until then are not known; a replay always leaves them out, because the clicks
         *     are among them. `learned`: something was learned about the reader at a replayed click or after it. Absent if there are none.
         */
        LeftOut: ("co_readers" | "learned" | "live_popularity")[];
        /** @description Side effects of a change that it did not name, for people. Absent if there are none. */
        Notes: string[];
        /**
         * @description A duration as Go writes it; a day is 24h. A `scale` is at least 1s, an `offset` at least 0s.
         * @example 90m
         * @example 24h
         * @example 1h30m
         */
        Duration: string;
        RankingVersion: {
            /**
             * Format: int64
             * @description The number of the version. 0 is the configured ranking.
             */
            version: number;
            /**
             * Format: date-time
             * @description When the version was created. Absent for version 0.
             */
            at?: string;
            by: components["schemas"]["ChangedBy"];
            why: components["schemas"]["ChangedWhy"];
            /** @description The parameters for all agents that are in no experiment. */
            ranking: components["schemas"]["Ranking"];
            experiments: components["schemas"]["RankingVersionExperimentsEntry"][];
            notes?: components["schemas"]["Notes"];
        };
        /** @description By how much a rate of an experiment's readers may exceed that of `control`, as a part of it: 0.1 is a tenth. An experiment that surely breaks one, with 1,000 readers or more of each, ends by itself. */
        Limits: {
            /**
             * Format: double
             * @description Hides and dislikes per impression.
             */
            rejects?: number;
            /**
             * Format: double
             * @description The share of pages with fewer items than requested, or none.
             */
            short?: number;
            /**
             * Format: double
             * @description The mean time to answer a page.
             */
            latency?: number;
            /** @description True removes all limits. It is only sent, and alone. */
            none?: boolean;
        };
        /** @description The name of an experiment, except `control`, which is all other agents. */
        ExperimentName: string;
        /**
         * Format: double
         * @description The share of all agents, 0 or at least 0.0001. Agents stay in the experiment while the share grows.
         */
        Share: number;
        /** @description Who made the change. Default `admin`. */
        ChangedBy: string;
        /** @description Why the change was made. */
        ChangedWhy: string;
        Report: {
            from: string;
            to: string;
            /** Format: int64 */
            days: number;
            /** @description The figures of promotions over all variants, by id. The figures of the variants include them. Absent if there are none. */
            promotions?: components["schemas"]["ReportPromotionsEntry"][];
            /** @description What an experiment on half of the readers would need. Absent while experiments run, and if readers were shown too little to tell. */
            size?: components["schemas"]["ReportSize"];
            variants: components["schemas"]["ReportVariantsEntry"][];
        };
        ReportPair: {
            /** Format: int64 */
            variant: number;
            /** Format: int64 */
            control: number;
        };
        /** @description How much a test needs to find a difference with a probability of 80 %. */
        ReportSize: {
            /**
             * Format: double
             * @description The difference, as a part of the rate of `control`.
             */
            relative: number;
            /**
             * Format: int64
             * @description The impressions of an arm; 0 without `days`.
             */
            impressions: number;
            /**
             * Format: double
             * @description Days from the beginning of the run; null if 90 days do not suffice with these readers.
             */
            days: number | null;
        };
        Interval: {
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        /**
         * @description `for_you`: items that match the reader's interests. `home`: posts by followed authors, blended with trending, discovered and promoted items. `tag:go` and `lang:de`: the items with a tag or in a language. Or the name of a stored feed.
         * @default for_you
         */
        FeedName: string;
        StoredFeedName: string;
        /** @description Conditions on an item. Tags, languages and words are compared as those of a profile. An item without a language meets no condition on languages. Each term must be one that items can have: of 256 bytes at most, without control characters. */
        FeedConditions: {
            tags?: string[];
            langs?: string[];
            authors?: string[];
            /** @description Hosts of items' links, in lower case and without `www.`. */
            sites?: string[];
            /** @description Words that are next to each other in the title or the summary. */
            words?: string[];
        };
        /** @description The agents who may read it; for all others it does not exist. Left out, everyone may; an empty list is refused. */
        FeedReaders: components["schemas"]["AgentID"][];
        StoredFeed: {
            name: components["schemas"]["StoredFeedName"];
            all?: components["schemas"]["FeedConditions"];
            any?: components["schemas"]["FeedConditions"];
            none?: components["schemas"]["FeedConditions"];
            /** @description Parameters that differ from the live ranking. */
            ranking?: components["schemas"]["RankingChange"];
            readers?: components["schemas"]["FeedReaders"];
        };
        /**
         * @description Changes to the live ranking: an object, or a list such as `scale=72h,offset=2h`. A list can
         *     name every parameter, such as `scale`, `offset`, `decay`, `curves` (JSON, or the name of a
         *     preset), `floor`, `weight`, `base` or `site.decay`. Left out or empty, it is the live ranking.
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
            left_out?: components["schemas"]["LeftOut"];
            figures: components["schemas"]["ComparisonFigures"];
            per_agent: components["schemas"]["ComparisonPerAgentEntry"][];
            lists?: components["schemas"]["ComparisonLists"];
        };
        /** @description The distribution of a figure over the agents that have it. */
        Spread: {
            /** Format: int64 */
            n: number;
            /** Format: double */
            mean: number;
            /**
             * Format: double
             * @description The sample standard deviation. 0 with fewer than two agents.
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
             * @description The rank in the other list. 0 if it is not within `depth`.
             */
            other_rank: number;
            /**
             * @description The move from A to B. `in`: A does not rank it within `depth`. `out`: B does not.
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
             * @description The popularity factor.
             */
            popularity: number;
            /**
             * Format: double
             * @description The factor of co-readers. Absent if it changes no score.
             */
            co_readers?: number;
            matched_tags: components["schemas"]["Gain"][];
            matched_keywords: components["schemas"]["Gain"][];
        };
        /** @description An item or a post that is promoted for a limited time. */
        Promotion: {
            id: components["schemas"]["AgentID"];
            item_id: components["schemas"]["ItemID"];
            /**
             * Format: int64
             * @description Unix seconds. The first second in which the promotion runs.
             */
            from: number;
            /**
             * Format: int64
             * @description Unix seconds. The promotion ends just before this second.
             */
            until: number;
            /**
             * Format: double
             * @description How often the promotion is chosen, relative to the others that run and target the reader.
             */
            weight: number;
            /** @description Limits the promotion to readers interested in any of these tags, by their profile or by what was learned. Absent means everybody. */
            tags?: string[];
            /** @description Limits the promotion to readers whose profile names any of these languages. Absent means everybody. */
            langs?: string[];
            /** @description Whether the promotion can be chosen at present. */
            runs: boolean;
            /** @description Why the promotion does not run. Absent if it runs. */
            why?: string;
        };
        /**
         * @description The kind of derived data that the job updates.
         * @enum {string}
         */
        JobKind: "deliver" | "index" | "count" | "pair" | "member" | "author" | "erase" | "images" | "suggest" | "export";
        /**
         * @description The state of a job. A `failed` job is retried, a `dead` one is not.
         * @enum {string}
         */
        JobState: "pending" | "running" | "completed" | "failed" | "dead";
        /** @description An update of derived data that may differ from its source. */
        Job: {
            /** Format: int64 */
            id: number;
            kind: components["schemas"]["JobKind"];
            /** @description The id of the post or agent, or two ids separated by a slash. */
            key: string;
            /**
             * Format: int64
             * @description How often the data was marked as changed.
             */
            generation: number;
            /**
             * Format: int64
             * @description Lower numbers run first.
             */
            priority: number;
            state: components["schemas"]["JobState"];
            /**
             * Format: date-time
             * @description Since when the job should run.
             */
            due: string;
            /**
             * Format: date-time
             * @description The earliest time at which the job runs.
             */
            run_at: string;
            /** Format: int64 */
            attempts: number;
            /** @description The error of the last attempt. */
            error?: string;
            /**
             * Format: date-time
             * @description When the lease expires. Only for running jobs.
             */
            leased_until?: string;
            /**
             * Format: date-time
             * @description When the job ended. Only for completed and dead jobs.
             */
            finished_at?: string;
        };
        /** @description A summary of the whole queue. */
        JobQueue: {
            /** @description Number of jobs by kind and state, without completed ones. */
            rows: components["schemas"]["JobQueueRowsEntry"][];
            /**
             * Format: double
             * @description For how many seconds the job that has waited longest is overdue.
             */
            oldest_seconds: number;
        };
        /** @description A setting whose value in force differs from the loaded one. */
        ConfigChange: {
            /** @description The setting, such as `server.rate_limit`. */
            key: string;
            /** @description The value in force before a reload. Secrets are shown as `******`. */
            in_force: string;
            /** @description The loaded value, in the same form. */
            loaded: string;
            /**
             * @description When the loaded value takes effect, with a `reload` or with a `restart` of the server.
             * @enum {string}
             */
            effect: "reload" | "restart";
            /** @description True if nothing sets the setting any more, so that the loaded value is its default. Absent otherwise. */
            unset?: boolean;
        };
        System: {
            version: string;
            /** @description Where items are stored: sqlite or elasticsearch. */
            items: string;
            /** @description Where impressions are stored: memory or redis. */
            impressions: string;
            /** @description Where posts are stored: off, sqlite or postgres. */
            posts: string;
            /** @description The settings in force, in the order of the shipped file. */
            settings: components["schemas"]["SystemSettingsEntry"][];
            /** @description The services that the server calls, by name, with what was counted since it was started. */
            dependencies: components["schemas"]["SystemDependenciesEntry"][];
            recording: components["schemas"]["SystemRecording"];
            /** @description The files and folders of `data_dir`, by name. */
            files: components["schemas"]["SystemFilesEntry"][];
        };
        Diagnosis: {
            findings: components["schemas"]["DiagnosisFindingsEntry"][];
        };
        Overview: {
            /**
             * Format: date-time
             * @description When it was read.
             */
            at: string;
            /** @description The last hour. It begins with the first minute that a server has counted. */
            minutes: components["schemas"]["OverviewPoint"][];
            /** @description The last seven days. */
            hours: components["schemas"]["OverviewPoint"][];
            /** @description The servers that have counted within the last three minutes, by name. */
            servers: components["schemas"]["OverviewServersEntry"][];
            /**
             * @description The times of the last seven days in which answers lacked a part or calls failed, the newest
             *     first, at most 100.
             */
            incidents: components["schemas"]["OverviewIncidentsEntry"][];
            /** @description The last seven days, oldest first; empty while they cannot be read. */
            days: components["schemas"]["OverviewDaysEntry"][];
            /** @description The number of items, posts included, at most a minute ago; null while they cannot be counted. */
            items: null | components["schemas"]["OverviewItemsObject"];
        };
        /** @description What all servers did in a minute or an hour. Rates and shares are those of calls for for-you and home. */
        OverviewPoint: {
            /** Format: date-time */
            begin: string;
            /**
             * Format: double
             * @description The time that was counted. It is less than the length of the point if servers were started in it, or if it has not ended.
             */
            seconds: number;
            /**
             * Format: int64
             * @description Servers that have counted; 0 if none was running.
             */
            servers: number;
            /**
             * Format: double
             * @description Calls a second.
             */
            refreshes: number;
            /**
             * Format: double
             * @description Calls a second.
             */
            load_mores: number;
            /**
             * Format: double
             * @description Seconds that half of the calls took at most; null if there were none.
             */
            p50: number | null;
            /**
             * Format: double
             * @description The same of 99 calls in 100.
             */
            p99: number | null;
            /**
             * Format: double
             * @description Share of refreshes and load_mores that failed; null if there were none.
             */
            errors: number | null;
            /**
             * Format: double
             * @description Share of those that lacked a part.
             */
            degraded: number | null;
            /**
             * Format: double
             * @description Share of those with fewer items than requested.
             */
            short: number | null;
            /**
             * Format: int64
             * @description Items delivered.
             */
            shown: number;
            /**
             * Format: int64
             * @description Accepted clicks.
             */
            clicks: number;
            /**
             * Format: double
             * @description Clicks for each item delivered; null if there were none.
             */
            click_rate: number | null;
            /**
             * Format: double
             * @description Impressions in the filter of the day, as a share of its capacity.
             */
            filter_fill: number;
            /**
             * Format: double
             * @description Seconds that the longest overdue job has been due, on average.
             */
            queue_delay: number;
            /**
             * Format: double
             * @description Open streams, on average.
             */
            streams: number;
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
             * @description The error, for programs. 40001: invalid body, parameter or header, such as
             *     `If-Match` on a route that does not support it. 40002: invalid action. 40003:
             *     invalid limit. 40004: invalid id. 40101: not authenticated. 40301: not allowed.
             *     40401: not found. 40501: method not supported. 40901: the request id or key was used
             *     for another call. 41001: a cursor is not valid any more. 41201: not the current version. 41301: too large. 41501:
             *     unsupported type. 41601: range outside the image. 42201: a post, an image or the
             *     configuration breaks a rule. 42202: a limit is reached. 42901: too many calls. 50001: a defect of the
             *     server. 50301: temporarily unavailable.
             * @enum {integer}
             */
            code: 40001 | 40002 | 40003 | 40004 | 40101 | 40301 | 40401 | 40501 | 40901 | 41001 | 41201 | 41301 | 41501 | 41601 | 42201 | 42202 | 42901 | 50001 | 50301;
            /** @description The error, for people. */
            msg: string;
            /** @description The report of the entries processed before the error. Only for uploads. */
            data?: components["schemas"]["UploadReport"];
        };
        AgentID: string;
        /** @description The id of an agent, or `~` for the caller. */
        AgentOrCaller: string;
        /** @description Facts about the item in this feed. Absent if there are none. */
        FeedItemInFeed: {
            /**
             * @description The source of the item's position. `explore`: drawn at random. In home also `following`, `trending`, `discovery` or `promoted`. Absent if the position results from the score alone. Later versions will add sources: ignore those that you do not know.
             * @enum {string}
             */
            source?: "explore" | "following" | "trending" | "discovery" | "promoted";
            /**
             * @description Only in home: likes and comments relative to age, as of the last trending list. `hot`: above 5. `warm`: above 2. Absent otherwise.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            /** @description True if `source` is `promoted`, absent otherwise. */
            is_promoted?: boolean;
            /** @description The reader was shown the item before, within `dedup.window_days`; it is repeated because nothing unseen was left (`dedup.when_exhausted: oldest`) or, in the feed of a tag, a language or a stored feed, because another feed has shown it. Absent for unseen items. */
            shown_before?: boolean;
            why?: components["schemas"]["Reasons"];
        };
        ReasonsEntry: {
            /**
             * @description `interest`: the item's tag `value` is an interest of the reader. `keyword`: the item
             *     contains the reader's keyword `value`. `fresh`: its decay factor is at least 1.5
             *     times that of an item a day old, and at least half that of a new item.
             *     `learned`: the reader has clicked or liked items that share `value`. `popular`: its
             *     popularity factor is at least 1.5. `co_read`: people who have read what the reader has
             *     read also read it, at least three of them, and that factor is at least 1.5. `explore`: it
             *     was drawn at random for its position; always first. `same_tag`: only of related items, with
             *     the tag. Later versions will add types: ignore those that you do
             *     not know.
             * @example interest
             * @example keyword
             * @example learned
             * @example fresh
             * @example popular
             * @example co_read
             * @example explore
             * @example same_tag
             */
            type: string;
            /** @description The tag or keyword as written in the reader's profile, or the learned feature. */
            value?: string;
            /**
             * @description The kind of `value`. Only with `learned`.
             * @enum {string}
             */
            kind?: "tag" | "author" | "lang" | "word";
        };
        /** @description Only of posts. */
        GuestEntryAuthor: {
            id: components["schemas"]["AgentID"];
            name: string;
            image_url: string;
        };
        GuestEntryInFeed: {
            /**
             * @description The source of the entry. `discovery`: the newest items and posts.
             * @enum {string}
             */
            source: "trending" | "promoted" | "discovery";
            /**
             * @description `(likes + 2·comments) / (hours old + 1)²`. `hot`: above 5. `warm`: above 2. Absent otherwise.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            is_promoted?: boolean;
        };
        NewPostImagesEntry: {
            alt?: string;
        };
        /** @description Who may see the post, in addition to its author and the agents in `mentions`. Left out, everybody may. */
        NewPostAudience: {
            public?: boolean;
            followers?: boolean;
            /** @description Circles of the author, and groups and events that the author is a member of. */
            circles?: components["schemas"]["AgentID"][];
        };
        PostImagesEntry: {
            /** @description A path of this server, `/media/{key}`. */
            url: string;
            /** @description A path of this server, `/media/{key}`. The longer side of the thumbnail has at most 320 pixels. */
            thumbnail: string;
            /**
             * Format: int64
             * @description Pixels.
             */
            width: number;
            /** Format: int64 */
            height: number;
            /** @description The color to show until the image is loaded, as `#rrggbb`. */
            color: string;
            /** @description The alt text. `""` if none was given. */
            alt: string;
        };
        /** @description Who may see the post. `in_feed.circles` names its groups. Empty for a reply. */
        PostAudience: {
            public?: boolean;
            followers?: boolean;
        };
        PostInFeedCirclesEntry: {
            id: components["schemas"]["AgentID"];
            name: string;
        };
        PostInFeedRemovedEntry: {
            /**
             * @description `group_owner`: the owner of the group. `post_author`: the author of the root post. `admin`: an admin.
             * @enum {string}
             */
            by: "group_owner" | "post_author" | "admin";
            /** @description Absent if none was given, or if who gave it was erased. */
            reason?: string;
            /**
             * Format: int64
             * @description Unix seconds.
             */
            at: number;
            /** @description The group that it was removed from. Absent for a reply that was removed from its thread, and for what moderators hide. */
            circle?: components["schemas"]["AgentID"];
            /** @description True if moderators have hidden the post until they decide. Absent otherwise. */
            held?: boolean;
        };
        /** @description Facts about the post for this reader. Absent in calls without an agent. */
        PostInFeed: {
            /**
             * @description The source of the post. `following`: the reader's timeline. `discovery`: the
             *     recall of a feed. `explore`: drawn at random for a position of a feed.
             *     `trending`, `promoted`: sources of home. Absent if the post was read directly
             *     and is not in the reader's timeline.
             * @enum {string}
             */
            source?: "following" | "discovery" | "explore" | "trending" | "promoted";
            /**
             * @description Only in home: likes and comments relative to age. `hot`: above 5. `warm`: above 2. Absent otherwise.
             * @enum {string}
             */
            trend?: "hot" | "warm";
            /**
             * @description Why the post is in the reader's timeline: the first of these that applies.
             *     `self`: it is the reader's own. `follow`: the reader follows the author.
             *     `domain`: it is public, and the reader follows `@server`. `audience`: the reader
             *     is in a circle that it is addressed to. `mention`: it mentions the reader.
             *     Absent if it is not in the timeline.
             * @enum {string}
             */
            reason?: "self" | "follow" | "domain" | "audience" | "mention";
            has_liked: boolean;
            can_reply: boolean;
            can_react: boolean;
            /**
             * @description The groups and events through which the reader sees the post. For its author, all
             *     circles and groups that it addresses; the name is `""` if there is none, or if the
             *     author has left the group. Absent if there are none.
             */
            circles?: components["schemas"]["PostInFeedCirclesEntry"][];
            /**
             * @description Only for the author: by whom the post was removed from a group, or the reply from its
             *     thread, or that moderators hold or have removed it. Absent if it was not.
             */
            removed?: components["schemas"]["PostInFeedRemovedEntry"][];
            /** @description Whether `source` is `promoted`. */
            is_promoted: boolean;
            /** @description Only in a feed: the post is repeated because nothing unseen was left. Absent otherwise. */
            shown_before?: boolean;
            why?: components["schemas"]["Reasons"];
        };
        /** @description Who may see the post. Empty for a reply. */
        TileAudience: {
            public?: boolean;
            followers?: boolean;
        };
        /** @description The thumbnail of the first image. Absent if the post has no image. */
        TileThumbnail: {
            /** @description A path of this server, `/media/{key}`. It needs a token unless the audience is public. */
            url: string;
            /**
             * Format: int64
             * @description Width of the full image in pixels. The thumbnail has the same proportions.
             */
            width: number;
            /** Format: int64 */
            height: number;
            /** @description The color to show until the thumbnail is loaded, as `#rrggbb`. */
            color: string;
            /** @description Describes the image to those who do not see it. May be empty. */
            alt: string;
        };
        /** @description The group or event. Only for `invitation` and `joined`. */
        NotificationCircle: {
            id: components["schemas"]["AgentID"];
            name: string;
        };
        ReportedObjectReportsEntry: {
            agent: components["schemas"]["AgentID"];
            reason: components["schemas"]["ReportReason"];
            details?: string;
            /**
             * Format: int64
             * @description Unix seconds.
             */
            at: number;
        };
        ModeratedPostImagesEntry: {
            /** @description A path of this server. */
            url: string;
            thumbnail: string;
            /** Format: int64 */
            width: number;
            /** Format: int64 */
            height: number;
            color: string;
            alt: string;
        };
        /** @description Empty for a reply, which has the audience of its root post. */
        ModeratedPostAudience: {
            public?: boolean;
            followers?: boolean;
            circles?: string[];
        };
        /** @description Its id is empty if it was an agent who was erased since. Absent for a list that names no author. */
        AuditPageEntriesEntryObject: {
            /** @enum {string} */
            kind: "post" | "item" | "author" | "circle";
            id: string;
        };
        AuditPageEntriesEntry: {
            /** Format: int64 */
            seq: number;
            /**
             * Format: int64
             * @description Unix seconds.
             */
            at: number;
            /** @description `admin:` and the beginning of the SHA-256 hash of the admin token, or `demo`. */
            who: string;
            /** @enum {string} */
            action: "hold" | "remove" | "restore" | "suspend" | "lift" | "dismiss" | "read" | "list";
            object?: components["schemas"]["AuditPageEntriesEntryObject"];
            reason?: string;
        };
        ProfileMutedWordsEntry: {
            term: components["schemas"]["MutedTerm"];
            until?: components["schemas"]["MuteEnd"];
        };
        /**
         * @description When mutes in the lists above end, by their values as the lists have them. A mute without an
         *     end stays until it is removed. Mutes that have ended are in neither; an end without a mute is
         *     dropped.
         */
        ProfileMutedUntil: {
            authors?: {
                [key: string]: components["schemas"]["MuteEnd"];
            };
            tags?: {
                [key: string]: components["schemas"]["MuteEnd"];
            };
            items?: {
                [key: string]: components["schemas"]["MuteEnd"];
            };
        };
        KeywordObject: {
            term: components["schemas"]["Term"];
            /**
             * Format: double
             * @description Added to the relevance of an item whose title has the keyword. 0 has the same effect as
             *     leaving the keyword out.
             * @default 1
             */
            weight?: number;
        };
        UploadReportErrorsEntry: {
            /**
             * Format: int64
             * @description The line, or the element of the array, counted from 1.
             */
            line: number;
            /** @description The id of the entry. Absent if it could not be read. */
            id?: string;
            reason: string;
        };
        /** @description The item that the call named. */
        ExplanationItem: {
            /** @description Why the item has this position or is missing, for people. */
            reason: string;
            /** @description What each curve of the ranking adds to the decay, in the same order. Absent with one Gaussian. */
            curves?: number[];
        } & components["schemas"]["ExplainedFields"];
        /** @description Number of candidates per outcome. */
        ExplanationCounts: {
            /**
             * Format: int64
             * @description Number of recall rounds.
             */
            rounds: number;
            /**
             * Format: int64
             * @description All candidates. The following fields add up to this number.
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
             * @description Only in home.
             */
            outside: number;
            /** Format: int64 */
            paged: number;
            /** Format: int64 */
            kept: number;
        };
        /** @description Milliseconds of each stage. Only explanations have the stage `factors`. */
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
        /** @description Only for following, trending and promoted. `n` is likes + replies + 0.2 × clicks; see `home` in a ranking. */
        ExplainedFieldsAffinity: {
            /** Format: double */
            n: number;
            /** Format: double */
            factor: number;
        };
        /** @description `base` plus the gains of matching interests and keywords plus the learned scores, multiplied by the learned factors. */
        ExplainedFieldsRelevance: {
            /** Format: double */
            total: number;
            /** Format: double */
            base: number;
            tags?: components["schemas"]["Gain"][];
            keywords?: components["schemas"]["Gain"][];
            learned?: components["schemas"]["Learned"][];
        };
        /** @description Each reader counts half after each half-life. `adds` is the contribution to the factor. Those of 1 and 6 hours, 1 and 7 days only if the ranking weights them. */
        ExplainedFieldsPopularityReaders2h: {
            /** Format: double */
            count: number;
            /** Format: double */
            adds: number;
        };
        /**
         * @description Likes + 2 × comments, the readers who recently clicked or liked the item, if any, and
         *     the resulting factor.
         */
        ExplainedFieldsPopularity: {
            /** Format: double */
            value: number;
            /** Format: double */
            factor: number;
            readers_2h?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_2d?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_1h?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_6h?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_1d?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
            readers_7d?: components["schemas"]["ExplainedFieldsPopularityReaders2h"];
        };
        /**
         * @description The factor of those who have read what the agent has read and this item: (readers × `own` +
         *     `mean`) / (readers + 1), with the number of the item's readers. `own` is min(4, 1 +
         *     `co_read.weight` × log10(1 + nearness / `co_read.scale`), 1 + 1.7 × log10(1 + max(10,
         *     readers))), `mean` the mean of the candidates; both are absent if fewer than three people stand behind `own`. Absent if it changes no score.
         */
        ExplainedFieldsCoReaders: {
            /** Format: double */
            factor: number;
            /** Format: double */
            own?: number;
            /** Format: double */
            mean?: number;
        };
        /** @description The position of the item, and the factor that its score was multiplied by there. Absent if it was not placed. */
        ExplainedFieldsVariety: {
            /**
             * Format: int64
             * @description Position in the list that pages are cut from.
             */
            place: number;
            /**
             * Format: int64
             * @description Page among those built in advance.
             */
            page: number;
            /**
             * @description `explore` if the item was drawn at random for its position, absent if its score placed it. In home, the source that fills the position.
             * @enum {string}
             */
            source?: "explore" | "following" | "trending" | "discovery" | "promoted";
            /**
             * @description Only in home: the source that the pattern assigns the position to.
             * @enum {string}
             */
            right?: "following" | "trending" | "discovery" | "promoted";
            /**
             * Format: double
             * @description The product of the factors below.
             */
            factor: number;
            author?: components["schemas"]["Nth"];
            site?: components["schemas"]["Nth"];
            tag?: components["schemas"]["Nth"];
        };
        /**
         * @description The decay by age, never below `floor`: either one Gaussian, which is 1 up to `offset` and
         *     `decay` at `offset` + `scale`, or the sum of `curves`.
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
         *     + `weight_2h` × log10(1 + readers) + `weight_2d` × log10(1 + readers). Readers are those
         *     who clicked or liked the item; each counts half after each 2 hours, or 2 days.
         *     The last two weights have no effect in an Elasticsearch index without fields for them.
         *     Those of 1 hour, 6 hours, 1 day and 7 days add in the same way. A weight above 0 is
         *     refused (40001) unless the setting `popularity.half_lives` has its half-life.
         */
        RankingPopularity: {
            /** Format: double */
            weight?: number;
            /** Format: double */
            weight_2h?: number;
            /** Format: double */
            weight_2d?: number;
            /** Format: double */
            weight_1h?: number;
            /** Format: double */
            weight_6h?: number;
            /** Format: double */
            weight_1d?: number;
            /** Format: double */
            weight_7d?: number;
        };
        /** @description How keywords count. */
        RankingKeywords: {
            /**
             * Format: double
             * @description The part of its weight that a keyword adds if it occurs only in the summary.
             */
            summary?: number;
        };
        /**
         * @description How pages are varied: the score of the n-th item of a page by the same author, from the
         *     same `site` (host of its `url`, without `www.`) or with the same first tag is
         *     multiplied by max(`floor`, `decay`^(n−1)). Absent, and off, in rankings stored by
         *     versions without diversity.
         */
        RankingDiversity: {
            author?: components["schemas"]["DiversitySpread"];
            site?: components["schemas"]["DiversitySpread"];
            tag?: components["schemas"]["DiversitySpread"];
            /**
             * Format: double
             * @description If two titles of a page share at least this part of their words, they count as one story, and the second item is placed after all others of the session (in home, a post of a followed author waits for one page at most). It is left out only if the session is full without it. 0 and 1 turn this off.
             */
            same_story?: number;
        };
        /** @description Exploration. Absent, and off, in rankings stored by versions without it. */
        RankingExplore: {
            /**
             * Format: double
             * @description Part of a page's positions that is filled with new items drawn at random, never among the first five. 0 turns it off.
             */
            share?: number;
        };
        /**
         * @description The weight of what was learned about the reader. Absent, and off, in rankings stored by
         *     versions without learning.
         */
        RankingLearned: {
            /**
             * Format: double
             * @description What a feature of this kind adds to the relevance at most, as a multiple of `base`. 0 turns the kind off, including evidence against it.
             */
            tags?: number;
            /**
             * Format: double
             * @description What a feature of this kind adds to the relevance at most, as a multiple of `base`. 0 turns the kind off, including evidence against it.
             */
            author?: number;
            /**
             * Format: double
             * @description What a feature of this kind adds to the relevance at most, as a multiple of `base`. 0 turns the kind off, including evidence against it.
             */
            lang?: number;
            /**
             * Format: double
             * @description What a feature of this kind adds to the relevance at most, as a multiple of `base`. 0 turns the kind off, including evidence against it.
             */
            words?: number;
            /**
             * Format: double
             * @description The part of the relevance that evidence against a tag, author, language or word removes at most.
             */
            negative?: number;
            /** @description The time after which an act counts half, from 1h to 87600h. */
            half_life?: components["schemas"]["Duration"];
        };
        /**
         * @description Co-readers: an item is raised for readers who have read what its readers had read before.
         *     Absent, and off, in rankings stored by versions without it.
         */
        RankingCoRead: {
            /**
             * Format: double
             * @description 0 turns it off.
             */
            weight?: number;
            /**
             * Format: double
             * @description The nearness at which the factor is about 1 + `weight` / 3.
             */
            scale?: number;
        };
        /**
         * @description How following, trending and promoted score their items in home: base ×
         *     e^(−`decay` × hours old) × (1 + log10(likes + 2·comments + 1)) ×
         *     (1 + `affinity` × n / (n + 5)). n is the number of the reader's likes of the author's
         *     posts and replies to them within `affinity_days`, plus 0.2 for each click. Absent in
         *     rankings stored by versions without home, which use the defaults.
         */
        RankingHome: {
            /** Format: double */
            decay?: number;
            /**
             * Format: double
             * @description The base of this source.
             */
            following?: number;
            /**
             * Format: double
             * @description The base of this source.
             */
            trending?: number;
            /**
             * Format: double
             * @description The base of this source.
             */
            promoted?: number;
            /**
             * Format: double
             * @description 0 turns it off.
             */
            affinity?: number;
            /**
             * Format: double
             * @description Number of days for which a like or a reply counts.
             */
            affinity_days?: number;
        };
        /**
         * @description `scale`, `offset` and `decay` replace curves by one Gaussian, with the defaults 24h, 1h
         *     and 0.5 for those left out; `notes` in the response reports this. `curves` replaces the
         *     Gaussian. Send one or the other.
         */
        RankingChangeDecay: {
            scale?: components["schemas"]["Duration"];
            offset?: components["schemas"]["Duration"];
            /** Format: double */
            decay?: number;
            /**
             * @description Up to four curves, which are added; `[]` means the one Gaussian. Or the name of a
             *     preset, which includes the floor: `single` is one Gaussian over a day, `two` a fast
             *     and a slow curve.
             */
            curves?: components["schemas"]["Curve"][] | ("single" | "two");
            /** Format: double */
            floor?: number;
        };
        RankingVersionExperimentsEntry: {
            name: components["schemas"]["ExperimentName"];
            share: components["schemas"]["Share"];
            ranking: components["schemas"]["Ranking"];
            /** @description The guardrails of the experiment. Absent if it has none. */
            limits?: components["schemas"]["Limits"];
        };
        ReportPromotionsEntry: {
            id: components["schemas"]["AgentID"];
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description 95 % interval of the rate, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
            /** Format: int64 */
            likes: number;
        };
        /** @description The part of these impressions and clicks that comes from exploration. Absent if there is none. */
        ReportVariantsEntryExplored: {
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description 95 % interval of the rate, by Wilson. */
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
            /** @description 95 % interval of the rate, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
        };
        ReportVariantsEntryPositionsEntry: {
            /** Format: int64 */
            from: number;
            /**
             * Format: int64
             * @description The last position of the range; 0 if it has no end.
             */
            to: number;
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description 95 % interval of the rate, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
        };
        ReportVariantsEntryEarlierEntry: {
            /** Format: int64 */
            version: number;
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /** Format: double */
            ctr: number;
            /** @description 95 % interval of the rate, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
        };
        ReportVariantsEntryDifferenceDaysEntry: {
            day: string;
            impressions: components["schemas"]["ReportPair"];
            clicks: components["schemas"]["ReportPair"];
            /**
             * Format: double
             * @description The difference at the end of the day.
             */
            ctr: number;
            /** @description Its 95 % interval. */
            interval: components["schemas"]["Interval"];
        };
        /** @description The variant's part of the readers of both, compared with its share. Absent if there are none, or if the run has ended. */
        ReportVariantsEntryDifferenceSampleRatio: {
            /** Format: double */
            expected: number;
            /** Format: double */
            observed: number;
            /**
             * Format: double
             * @description The p-value, valid at each look.
             */
            p: number;
            /** @description Whether p is 0.001 or more. */
            ok: boolean;
        };
        /** @description The difference from `control` over all days of the run, whichever days the report is of. Its figures are clustered by reader and hold however often one looks. Null for `control` itself. */
        ReportVariantsEntryDifference: {
            /**
             * Format: double
             * @description The click rate of the variant minus that of `control`, adjusted for what the readers of both clicked before the run.
             */
            ctr: number;
            /** @description The 95 % interval of the difference that holds at each look. */
            interval: components["schemas"]["Interval"];
            /**
             * Format: double
             * @description The two-sided p-value, valid at each look. Null if there is too little data.
             */
            p: number | null;
            /**
             * @description `unbalanced` means that `sample_ratio` is not ok: readers of one are lost or counted twice, and no other figure can be believed.
             * @enum {string}
             */
            verdict: "significant" | "not significant" | "too few" | "unbalanced";
            /** @description The numbers of distinct readers. */
            readers: components["schemas"]["ReportPair"];
            /** @description The days of the run, in order. Absent if there are none. */
            days?: components["schemas"]["ReportVariantsEntryDifferenceDaysEntry"][];
            sample_ratio?: components["schemas"]["ReportVariantsEntryDifferenceSampleRatio"];
            /** @description What the test needs. Absent if too little is known. */
            size?: components["schemas"]["ReportSize"];
        } | null;
        ReportVariantsEntry: {
            name: string;
            /** @description Whether agents are in the variant now. */
            live: boolean;
            /** Format: double */
            share: number;
            /** Format: int64 */
            impressions: number;
            /** Format: int64 */
            clicks: number;
            /**
             * Format: double
             * @description Clicks per impression.
             */
            ctr: number;
            /** @description 95 % interval of the rate, by Wilson. */
            ctr_interval: components["schemas"]["Interval"];
            /** Format: int64 */
            likes: number;
            /** Format: int64 */
            dislikes: number;
            /** Format: int64 */
            hides: number;
            /**
             * Format: double
             * @description Median age of the items shown, accurate to 9.1 %. Null if nothing was shown.
             */
            median_age_seconds: number | null;
            /**
             * Format: int64
             * @description Number of distinct authors, accurate to about 1 %.
             */
            authors: number;
            /**
             * Format: int64
             * @description Number of distinct agents, accurate to about 1 %.
             */
            agents: number;
            explored?: components["schemas"]["ReportVariantsEntryExplored"];
            /** @description The part of these impressions and clicks that comes from home, by the source of the position. Sources without impressions are left out. Absent if there are none. */
            sources?: components["schemas"]["ReportVariantsEntrySourcesEntry"][];
            /** @description The impressions and clicks of an experiment by position, from 1 over the pages of a session. Absent if none is known. */
            positions?: components["schemas"]["ReportVariantsEntryPositionsEntry"][];
            /**
             * Format: int64
             * @description The version of the ranking from which on the row counts; 0 if it is unknown. A change of the live ranking or of an experiment begins a new run of all variants.
             */
            version: number;
            /** @description The earlier runs of the same name, newest first. Absent if there are none. */
            earlier?: components["schemas"]["ReportVariantsEntryEarlierEntry"][];
            difference: components["schemas"]["ReportVariantsEntryDifference"];
        };
        /** @description The distribution of each figure over all agents. */
        ComparisonFigures: {
            /** Format: int64 */
            agents: number;
            /**
             * Format: int64
             * @description Number of agents for whom neither ranking has an item. The figures exclude them.
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
             * @description The share of items that are in both lists.
             */
            overlap: number;
            /**
             * Format: double
             * @description Rank-biased overlap, with p = 0.9.
             */
            rbo: number;
            /**
             * Format: double
             * @description Kendall's tau: how far the order of common items agrees, -1 to 1. Null with fewer than two common items.
             */
            kendall_tau: number | null;
            /**
             * Format: double
             * @description The share of items of B that are not in A.
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
             * @description The share of the agent's interests that the list covers.
             */
            tag_coverage_a: number | null;
            /**
             * Format: double
             * @description The share of the agent's interests that the list covers.
             */
            tag_coverage_b: number | null;
        };
        ComparisonLists: {
            agent_id: components["schemas"]["AgentID"];
            /**
             * Format: int64
             * @description The depth to which ranks in the other list are known.
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
        SystemSettingsEntry: {
            key: string;
            /** @description As in YAML. Secrets and credentials in addresses are masked. */
            value: string;
            /**
             * @description Where the value is from: the YAML `file`, the `environment`, a `flag`, or the `program` that opened the server.
             * @enum {string}
             */
            origin: "default" | "file" | "environment" | "flag" | "program";
            /** @description The file, the variable (of a secret in a file the one that names it) or the flag; empty for other origins. */
            source: string;
            help: string;
        };
        SystemDependenciesEntryCallsEntry: {
            /** @description The kind of call. */
            call: string;
            /** Format: int64 */
            count: number;
            /**
             * Format: double
             * @description Seconds that half of them took at most; null if there were none.
             */
            p50: number | null;
            /**
             * Format: double
             * @description The same of 99 in 100.
             */
            p99: number | null;
        };
        SystemDependenciesEntry: {
            name: string;
            /**
             * @description `closed`: calls are let through. `half-open`: a few are. `open`: all fail at once, because earlier ones have failed.
             * @enum {string}
             */
            breaker: "closed" | "half-open" | "open";
            calls: components["schemas"]["SystemDependenciesEntryCallsEntry"][];
            /**
             * Format: int64
             * @description Calls that did not reach it.
             */
            failed: number;
            /**
             * Format: int64
             * @description Calls that were not made, because earlier ones had failed.
             */
            refused: number;
        };
        /** @description The outcome of impressions since the server was started. */
        SystemRecording: {
            /**
             * Format: int64
             * @description Confirmed in a filter.
             */
            recorded: number;
            /**
             * Format: int64
             * @description Not confirmed in time; they stay pending.
             */
            deferred: number;
            /**
             * Format: int64
             * @description Dropped by the spool, because it was full or they were too old.
             */
            dropped: number;
            /**
             * Format: int64
             * @description Waiting on disk for the dedup store.
             */
            spool_bytes: number;
            /**
             * Format: double
             * @description How long the oldest one that is not recorded has waited.
             */
            oldest_seconds: number;
        };
        SystemFilesEntry: {
            name: string;
            /**
             * Format: int64
             * @description Of a folder those of all its files.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was written last.
             */
            changed: string;
        };
        DiagnosisFindingsEntry: {
            /**
             * @description `warning`: it works, but not as it should. `broken`: it does not work.
             * @enum {string}
             */
            level: "ok" | "warning" | "broken";
            what: string;
            detail: string;
            /** @description What to do about it; empty if there is nothing to do. */
            fix: string;
        };
        OverviewServersEntry: {
            /** @description The host, and a random text that differs at each start. */
            name: string;
            version: string;
            /** Format: date-time */
            started: string;
            /**
             * Format: date-time
             * @description Until when its figures are counted.
             */
            counted: string;
            /** @description Its dependencies that do not answer. */
            down: string[];
        };
        OverviewIncidentsEntry: {
            /** Format: date-time */
            begin: string;
            /**
             * Format: int64
             * @description How many that follow one another.
             */
            minutes: number;
            /** @description Whether refreshes or load_mores failed. */
            failed: boolean;
            /** @description The parts that answers lacked, as in `degraded`. */
            lacked: string[];
            /** @description The dependencies that did not answer, or of which calls failed. */
            down: string[];
        };
        OverviewDaysEntry: {
            /**
             * Format: date
             * @description A day in UTC.
             */
            day: string;
            /**
             * Format: int64
             * @description Distinct readers who were shown something, within about 1 %.
             */
            readers: number;
        };
        OverviewItemsObjectAgesEntry: {
            /**
             * Format: int64
             * @description Seconds, counted from the end of this hour; null for the oldest.
             */
            below: number | null;
            /** Format: int64 */
            items: number;
        };
        OverviewItemsObjectHoursEntry: {
            /** Format: date-time */
            begin: string;
            /** Format: int64 */
            items: number;
        };
        OverviewItemsObject: {
            /** @description By age, the youngest first; each item is in one of them. */
            ages: components["schemas"]["OverviewItemsObjectAgesEntry"][];
            /** @description By the hour that `update_time` is in, for seven days, the oldest first. */
            hours: components["schemas"]["OverviewItemsObjectHoursEntry"][];
        };
        ReadinessDataDependenciesValue: {
            /** @enum {string} */
            state: "up" | "degraded" | "down";
            optional?: boolean;
            /**
             * Format: int64
             * @description Only with `degraded`: for how many more seconds cached data can replace the dependency, which is down.
             */
            seconds_left?: number;
            /** @description Why the dependency is down. The log of the server has the details. */
            error?: string;
            /** @description A problem while the dependency is up, such as a clock that differs from the server's by more than a second. */
            warning?: string;
        };
        ReadinessData: {
            /** @description The dependencies, by name. */
            dependencies: {
                [key: string]: components["schemas"]["ReadinessDataDependenciesValue"];
            };
        };
        PostsAnswerData: {
            /** @description Newest first, except replies with `order=oldest`. */
            items: components["schemas"]["Post"][];
            /** @description The `cursor` for the next page: the position of the last post that was examined and that the reader may see, or, after a page without any, `post:-:<Unix seconds>`, which names no post. Null after an empty last page. */
            next_cursor: string | null;
            has_more: boolean;
            /** @description True for the empty timeline of a new reader, as in `POST /v1/feed`. Absent otherwise. */
            new_reader?: boolean;
            /** @description The parts that the response lacks, such as `timeline`, `session` or `social`. Absent if it is complete. */
            degraded?: string[];
        };
        PostsAnswer: {
            /** @constant */
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
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["LikesAnswerData"];
        };
        AuthorPostsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AuthorPage"];
        };
        AgentsAnswerData: {
            agents: components["schemas"]["AgentID"][];
            /** @description A card for each of `agents`, in their order. */
            cards: components["schemas"]["AgentCard"][];
            /** @description The `after` for the next page. Null on the last page. */
            next_after: string | null;
        };
        AgentsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AgentsAnswerData"];
        };
        CircleAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Circle"];
        };
        ProfileAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Profile"];
        };
        RankingVersionAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["RankingVersion"];
        };
        StoredFeedAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["StoredFeed"];
        };
        PromotionAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Promotion"];
        };
        DoneAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: Record<string, never>;
        };
        ChangedAnswerData: {
            changed: boolean;
        };
        ChangedAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ChangedAnswerData"];
        };
        PostImpressionsRequest: {
            /** @description Ids of the items seen, in any order. */
            ids: components["schemas"]["ItemID"][];
        };
        PostImpressionsAnswerData: {
            /**
             * Format: int64
             * @description Number of ids recorded.
             */
            recorded: number;
        };
        PostImpressionsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostImpressionsAnswerData"];
        };
        GetGuestFeedAnswerData: {
            /** @description The items and posts, best first. */
            items: components["schemas"]["GuestEntry"][];
            /**
             * @description The parts that the response lacks. `trending`: the trending
             *     list is more than an hour old. `catalog`: some items could
             *     not be read; they are cached copies, at most ten minutes
             *     old, or missing. `social`: the social store is unavailable;
             *     posts are cached copies, at most an hour old, or missing.
             *     `promoted`: promotions are missing. `recall`: the newest
             *     items could not be read.
             */
            degraded?: ("trending" | "catalog" | "social" | "promoted" | "recall")[];
        };
        GetGuestFeedAnswer: {
            /** @constant */
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
             * @description Number of events on items that the reader was shown. The report counts an event on a post only if a feed showed the post, not if only a timeline did.
             */
            accepted: number;
            /**
             * Format: int64
             * @description Number of events on items that the reader was not shown. They do not count.
             */
            not_shown: number;
        };
        PostEventsAnswer: {
            /** @constant */
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
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Post"];
        };
        EditPostRequest: {
            caption?: string;
            tags?: components["schemas"]["Term"][];
            /** @description One alt text for each image, in order. `""` means none. */
            alts?: string[];
            reply?: components["schemas"]["Right"];
        };
        EditPostAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Post"] | components["schemas"]["NoData"];
        };
        GetAuthorAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AuthorInfo"] | components["schemas"]["BlockedAuthor"];
        };
        PutAuthorRequest: {
            name?: string;
            /** @description A URL with `https://` or `http://`, or without a scheme. `PUT /v1/authors/{id}/image` uploads an image and sets it. */
            image_url?: string;
            bio?: string;
            /** @description Whether the author's follows may be a reason to suggest authors to the author's friends. If it is left out, they may, except while the author has posts of which none is public. */
            suggest_from_follows?: boolean;
            /** @description Whether the author may be recommended to people who have not chosen to read them. With `false`, no for-you, named or guest feed shows the author's posts, nothing trends, is related or promoted, and no suggestion names the author; home shows the posts to followers and members of groups alone. Timelines, pages, groups and threads stay. It is in force from the answer on. If it is left out, it stays as it was; at first it is `true`. */
            recommend?: boolean;
        };
        PutAuthorAnswerData: {
            id: components["schemas"]["AgentID"];
            name?: string;
            /** @description Of an uploaded image a path of this server, `/media/{key}`. */
            image_url?: string;
            bio?: string;
            suggest_from_follows?: boolean;
            /** @description Always false. Absent if the author may be recommended. */
            recommend?: boolean;
        };
        PutAuthorAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PutAuthorAnswerData"];
        };
        /** @description The fields of the card to change. */
        PatchAuthorRequest: {
            name?: string | null;
            /** @description As for PUT. */
            image_url?: string | null;
            bio?: string | null;
            suggest_from_follows?: boolean | null;
            /** @description Null is `true`. */
            recommend?: boolean | null;
        };
        PutAuthorImageRequest: {
            /** Format: binary */
            image: string;
        };
        PostAuthorCardsRequest: {
            authors: components["schemas"]["AgentID"][];
        };
        PostAuthorCardsAnswerData: {
            cards: components["schemas"]["AgentCard"][];
        };
        PostAuthorCardsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostAuthorCardsAnswerData"];
        };
        FollowManyRequest: {
            authors: components["schemas"]["AgentID"][];
        };
        FollowManyAnswerDataRefusedEntry: {
            author: components["schemas"]["AgentID"];
            /**
             * Format: int64
             * @description The error code that `PUT` returns for this author.
             */
            code: number;
            msg: string;
        };
        FollowManyAnswerData: {
            /**
             * Format: int64
             * @description Number of authors who were not followed before.
             */
            changed: number;
            /** @description Authors who could not be followed, for example because they block the agent, or are the agent. Empty if there are none. */
            refused: components["schemas"]["FollowManyAnswerDataRefusedEntry"][];
        };
        FollowManyAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["FollowManyAnswerData"];
        };
        GetSuggestionsAnswerDataAuthorsEntry: {
            author: components["schemas"]["AgentID"];
            card: components["schemas"]["AgentCard"];
            /** @enum {string} */
            reason: "followed_by" | "popular" | "new";
            /**
             * Format: int64
             * @description Only with `followed_by`: how many of the agent's friends follow this author, rounded down to 3, 5, 10 or 20.
             */
            count?: number;
        };
        GetSuggestionsAnswerData: {
            authors: components["schemas"]["GetSuggestionsAnswerDataAuthorsEntry"][];
        };
        GetSuggestionsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetSuggestionsAnswerData"];
        };
        GetCirclesAnswerData: {
            circles: components["schemas"]["Circle"][];
            /** @description The `after` for the next page. Null on the last page. */
            next_after: string | null;
        };
        GetCirclesAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetCirclesAnswerData"];
        };
        PutCircleRequest: {
            /** @description The name. Left out, the circle has none, even if it had one before. */
            name?: string;
            /** @description The owner. Required if an admin creates a circle; agents may leave it out. In a PUT, `""` is the same as leaving it out. In a PATCH, another member of a group or an event becomes its owner. */
            owner?: string;
            /** @description Replaces all members, except the owner of a group or an event. Left out, the members stay. An agent can name only members of a group or an event, and invites others; an admin can add others. */
            members?: components["schemas"]["AgentID"][];
            kind?: components["schemas"]["CircleKind"];
            post?: components["schemas"]["CirclePost"];
            history?: components["schemas"]["CircleHistory"];
            members_visible_to?: components["schemas"]["CircleMembersVisibleTo"];
            until?: components["schemas"]["Moment"];
        };
        /** @description The fields of the circle to change, as for PUT. Null removes a field. */
        PatchCircleRequest: {
            name?: string | null;
            owner?: components["schemas"]["AgentID"];
            /** @description As for PUT. */
            members?: components["schemas"]["AgentID"][];
            kind?: components["schemas"]["CircleKind"];
            post?: components["schemas"]["CirclePost"] | null;
            history?: components["schemas"]["CircleHistory"];
            members_visible_to?: components["schemas"]["CircleMembersVisibleTo"];
            until?: components["schemas"]["Moment"];
        };
        GetMutedCirclesAnswerData: {
            circles: string[];
            /** @description When mutes of this page end. Others have no end. */
            until?: {
                [key: string]: components["schemas"]["MuteEnd"];
            };
            /** @description The `after` for the next page. Null on the last page. */
            next_after: string | null;
        };
        GetMutedCirclesAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetMutedCirclesAnswerData"];
        };
        GetNotificationsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["NotificationPage"];
        };
        SeeNotificationsRequest: {
            /**
             * Format: int64
             * @description The `marker` of a notification, or of a page for all that were made before it.
             */
            marker: number;
        };
        GetMutedNotificationsAnswerData: {
            kinds: components["schemas"]["NotificationKind"][];
        };
        GetMutedNotificationsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetMutedNotificationsAnswerData"];
        };
        AskExportAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Export"];
        };
        GetReportsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ReportedPage"];
        };
        GetModeratedPostsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ModeratedPage"];
        };
        GetModeratedPostAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ModeratedPost"];
        };
        GetAuditAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["AuditPage"];
        };
        PostGraphEventsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        GetMutedItemsAnswerDataItemsEntry: {
            id: components["schemas"]["ItemID"];
            until?: components["schemas"]["MuteEnd"];
            item?: components["schemas"]["Content"];
        };
        GetMutedItemsAnswerData: {
            items: components["schemas"]["GetMutedItemsAnswerDataItemsEntry"][];
            /** @description The `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
            /**
             * @description The parts that the response lacks. `catalog`: content of items could not be read. `social`: the social store
             *     is unavailable; of posts, only cached copies are shown.
             */
            degraded?: ("catalog" | "social")[];
        };
        GetMutedItemsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetMutedItemsAnswerData"];
        };
        GetItemsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["ItemList"];
        };
        PostItemsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        PostItemCountsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["UploadReport"];
        };
        GetItemAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Content"];
        };
        PatchItemAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Content"];
        };
        GetRelatedAnswerData: {
            /** @description The items and posts, each with one reason in `in_feed`: `co_read`, its readers have read it as well, or `same_tag`, with the tag as `value`. */
            items: components["schemas"]["Content"][];
            /**
             * @description The parts that the response lacks. `co_readers`: what was read as well could not be read. `recall`: those of
             *     the same tags are outdated or missing. `catalog`: items whose content could not be read are missing. `social`:
             *     the social store is unavailable; of posts, only cached copies are shown.
             */
            degraded?: ("recall" | "catalog" | "social" | "co_readers")[];
        };
        GetRelatedAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetRelatedAnswerData"];
        };
        PostExplainAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Explanation"];
        };
        PutRankingRequestExperimentsEntry: {
            name: components["schemas"]["ExperimentName"];
            share: components["schemas"]["Share"];
            /** @description Changes to the parameters of the experiment, or to the live ones if it is new. */
            ranking?: components["schemas"]["RankingChange"];
            /** @description Its guardrails. Absent leaves them unchanged; `{"none":true}` removes them. */
            limits?: components["schemas"]["Limits"];
        };
        PutRankingRequest: {
            ranking?: components["schemas"]["RankingChange"];
            /** @description All experiments to run. The shares may add up to at most 1. `[]` ends all experiments. Left out, they stay. */
            experiments?: components["schemas"]["PutRankingRequestExperimentsEntry"][];
            by?: components["schemas"]["ChangedBy"];
            why?: components["schemas"]["ChangedWhy"];
        };
        GetRankingHistoryAnswerData: {
            versions: components["schemas"]["RankingVersion"][];
        };
        GetRankingHistoryAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetRankingHistoryAnswerData"];
        };
        RevertRankingRequest: {
            /**
             * Format: int64
             * @description The version to revert to. 0 is the configured ranking.
             */
            version: number;
            by?: components["schemas"]["ChangedBy"];
            why?: components["schemas"]["ChangedWhy"];
        };
        GetReportAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Report"];
        };
        GetFeedsAnswerData: {
            /** Format: int64 */
            version: number;
            feeds: components["schemas"]["StoredFeed"][];
        };
        GetFeedsAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetFeedsAnswerData"];
        };
        PutStoredFeedRequest: {
            all?: components["schemas"]["FeedConditions"];
            any?: components["schemas"]["FeedConditions"];
            none?: components["schemas"]["FeedConditions"];
            /** @description Parameters that differ from the live ranking. Named feeds take part in no experiment and do not explore. */
            ranking?: components["schemas"]["RankingChange"];
            readers?: components["schemas"]["FeedReaders"];
            by?: components["schemas"]["ChangedBy"];
            why?: components["schemas"]["ChangedWhy"];
        };
        PostCompareRequest: {
            a?: components["schemas"]["RankingText"];
            b?: components["schemas"]["RankingText"];
            /** @description The agents to rank for. Send either this or `sample`. */
            agents?: components["schemas"]["AgentID"][];
            /**
             * Format: int64
             * @description Number of agents to sample from those that have a profile.
             */
            sample?: number;
            /**
             * Format: int64
             * @description The same seed samples the same agents while no profile is written.
             * @default 0
             */
            seed?: number;
            /** @description The time to rank at. Default: now. */
            at?: components["schemas"]["Moment"];
            /**
             * Format: int64
             * @description How many items of each list are compared.
             * @default 20
             */
            k?: number;
            /**
             * @description Also return the two lists. Only for one agent.
             * @default false
             */
            lists?: boolean;
        };
        PostCompareAnswer: {
            /** @constant */
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
             * @description How many items to rank.
             * @default 500
             */
            depth?: number;
        };
        PostReplayAnswerDataOutcomesEntry: {
            /**
             * @description `ranked`: by at least one ranking. `unranked`: by none
             *     within `depth`. `gone`: no longer in the catalog.
             *     `later`: now dated after the click. `refused`: excluded
             *     by the agent's present profile.
             * @enum {string}
             */
            state: "ranked" | "unranked" | "gone" | "later" | "refused";
            /** @description The rank by each ranking, from 1. 0 means not ranked. */
            ranks: number[];
        };
        PostReplayAnswerData: {
            /** @description The rankings of the call, with all parameters. */
            rankings: components["schemas"]["Ranking"][];
            notes?: components["schemas"]["Notes"];
            left_out?: components["schemas"]["LeftOut"];
            /** Format: int64 */
            depth: number;
            outcomes: components["schemas"]["PostReplayAnswerDataOutcomesEntry"][];
        };
        PostReplayAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostReplayAnswerData"];
        };
        GetPromotionsAnswerData: {
            promotions: components["schemas"]["Promotion"][];
            /** @description The `after` for the next page. Null on the last page. */
            next_after: string | null;
        };
        GetPromotionsAnswer: {
            /** @constant */
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
             * @description The `after` for the next page. Null on the last page.
             */
            next_after: number | null;
            queue: components["schemas"]["JobQueue"];
        };
        GetJobsAnswer: {
            /** @constant */
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
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["PostJobsAnswerData"];
        };
        RederiveRequest: {
            /**
             * @description The `next_cursor` of the previous call. Empty for the first.
             * @default
             */
            cursor?: string;
            /**
             * Format: int64
             * @description How many posts or items this call reads.
             * @default 500
             */
            limit?: number;
        };
        RederiveAnswerData: {
            /**
             * Format: int64
             * @description Public posts whose items are made again.
             */
            posts: number;
            /**
             * Format: int64
             * @description Items that belong to no public post, and are removed.
             */
            items: number;
            /** @description The `cursor` for the next call. Null after the last one. */
            next_cursor: string | null;
        };
        RederiveAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["RederiveAnswerData"];
        };
        GetConfigDiffAnswerData: {
            changes: components["schemas"]["ConfigChange"][];
        };
        GetConfigDiffAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetConfigDiffAnswerData"];
        };
        GetOverviewAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Overview"];
        };
        GetReadersAnswerData: {
            /**
             * Format: int64
             * @description Readers who clicked or liked it; null if the server does not count that.
             */
            acted: number | null;
            /**
             * Format: int64
             * @description Within how many days.
             */
            days: number;
        };
        GetReadersAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["GetReadersAnswerData"];
        };
        GetSystemAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["System"];
        };
        PostDoctorAnswer: {
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            data: components["schemas"]["Diagnosis"];
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
        /** @description A page of posts. */
        Posts: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PostsAnswer"];
            };
        };
        /** @description The cursor, the limit or an id is invalid. Do not retry the call unchanged. */
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
        /** @description The present number of likes. */
        Likes: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["LikesAnswer"];
            };
        };
        /** @description The post breaks a rule, which `msg` states. */
        BadPost: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The file is not a JPEG, PNG, GIF or WebP, or also contains an archive or a script; the body is no form; or the server does not support images. */
        NoPicture: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The image breaks a rule, which `msg` states. */
        BadPicture: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A page of posts, or of tiles with `view=grid`. */
        AuthorPosts: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AuthorPostsAnswer"];
            };
        };
        /** @description A page of agents, in byte order of their ids. */
        Agents: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AgentsAnswer"];
            };
        };
        /** @description A parameter or an id is invalid. Do not retry the call unchanged. */
        BadList: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A limit is reached, which `msg` names. */
        Limit: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The event is over, the new owner of a group is no member, or a limit is reached, which `msg` names. */
        CircleRule: {
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
        /** @description The stored profile is not the one of `If-Match`, or there is none. Read it, then repeat the change. */
        ProfileChanged: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The cursor, the limit or an id is invalid. Do not retry the call unchanged. */
        BadMutedPage: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The limit of mutes is reached. */
        MostMuted: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The limit of muted items is reached. All that were muted stay. */
        MostMutedItems: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The limit of muted words is reached. All that were muted stay. */
        MostMutedWords: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The stored profile. GET also returns `learned`. */
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
        /** @description The body, the limit or an id is invalid. Do not retry the call unchanged. */
        BadBodyLimitOrID: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The version in force. */
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
        /** @description The version of `If-Match` is no longer the newest. Read the ranking again before changing it. */
        NotCurrent: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The feed as stored. The `ETag` is the version of the ranking that holds it. */
        StoredFeed: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["StoredFeedAnswer"];
            };
        };
        /** @description The stored promotion. */
        Promotion: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PromotionAnswer"];
            };
        };
        /** @description Success. `data` is empty. */
        Done: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DoneAnswer"];
            };
        };
        /** @description Success. `changed` is false if nothing had to be changed. */
        Changed: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ChangedAnswer"];
            };
        };
        /** @description The client's copy is current. */
        NotModified: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The call is invalid. Do not retry it unchanged. */
        BadFeed: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, a parameter or a header is invalid. Do not retry the call unchanged. */
        BadBody: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, a parameter, a header or an id is invalid. Do not retry the call unchanged. */
        BadBodyOrID: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The caller is not authenticated. */
        Unauthenticated: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                /** @description The authentication scheme. If `auth.mode` is `header`, only admins use it. */
                "WWW-Authenticate"?: "Bearer";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The caller is authenticated but not allowed to do this. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Nothing with this id exists, or the caller may not see it. */
        NotFound: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request id was used for another call. */
        Conflict: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body exceeds the size limit of the route. */
        TooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The content type of the body is not JSON. */
        WrongType: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The agent exceeds `server.rate_limit`, or has too many streams or uploads open. */
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
        /** @description A defect of the server. Its log has the cause under the `X-Request-ID` of the call. */
        Internal: {
            headers: {
                "X-Request-ID": components["headers"]["CallID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The server is overloaded, or a service that the call needs is down. Retry later. */
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
         * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
         *     this position, in the requested order. A cursor remains valid when its post is deleted.
         * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
         */
        Cursor: string;
        /** @description Maximum number of posts on a page. */
        PageLimit: number;
        /**
         * @description The post's id.
         * @example post:0064dcbdbd86c03f2a9c1e77b04d5d
         */
        PostID: components["schemas"]["PostID"];
        /**
         * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
         * @example u_10086
         */
        Agent: components["schemas"]["AgentOrCaller"];
        /**
         * @description The `next_after` of the previous page. Left out for the first page.
         * @example u_77
         */
        After: components["schemas"]["AgentID"];
        /** @description Maximum number of entries on a page. */
        ListLimit: number;
        /**
         * @description The `ETag` of the profile to change, or `*` for any existing profile. Without it, the
         *     stored profile is changed unconditionally.
         * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
         */
        IfProfileMatch: string;
        /**
         * @description When the mute ends, in the future. Left out, it has no end.
         * @example 2099-12-31T12:00:00Z
         */
        MuteUntil: components["schemas"]["MuteEnd"];
        /**
         * @description The `ETag` of the version to change. `*`, or no header, means the newest version.
         * @example "3"
         */
        IfMatch: string;
        /**
         * @description Identifies this call in the server's log and in the response: up to 128 characters of
         *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
         *     `request_id`.
         */
        CallID: string;
        /** @description The `ETag` of the client's copy. */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /** @description The id of this call in the server's log. */
        CallID: string;
        /** @description Seconds to wait before retrying. */
        RetryAfter: number;
        /** @description The version of the returned content. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description An alternative to `request_id`. If both are sent, they must be equal. */
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
            /** @description A page. Except in silent refreshes and degraded responses, it is empty only if no unseen items are left. */
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
            404: components["responses"]["NotFound"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The items are recorded as seen. */
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
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed. It is empty only if there are neither items nor public posts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    /** @description Any cache may store the response for a minute. */
                    "Cache-Control": "public, max-age=60";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetGuestFeedAnswer"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    /** @description Any cache may store the response for a minute. */
                    "Cache-Control": "public, max-age=60";
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The call is invalid. Do not retry it unchanged. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The events were processed. */
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
            422: components["responses"]["MostMutedItems"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTimeline: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
                 *     this position, in the requested order. A cursor remains valid when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Maximum number of posts on a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            query?: {
                /**
                 * @description The same, for an `EventSource`, which cannot send headers at its start. The header has priority.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d.-.1772791215902113:1772791200
                 */
                lastEventId?: string;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `id` of the last event received, or `0`. Without it, the stream starts at the present position.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d.-.1772791215902113:1772791200
                 */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /**
             * @description The events, until either side closes the connection. The data of `new` is like
             *     `{"count":3}`; a `count` of 99 means 99 or more. The data of `ready` is `{}`, and that of `notification`
             *     like `{"unread":2}`, at most 99.
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
            /** @description The id of the agent or of the last event is invalid. Do not retry the call unchanged. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description A new key for each post, the same key for its retries. Keys are separate for each author.
                 * @example 3f2a9c1e77b04d5d
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 512 KiB for the post, plus the images. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["CreatePostRequest"];
                "application/json": components["schemas"]["NewPost"];
            };
        };
        responses: {
            /** @description The post was already published by a call with the same key. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePostAnswer"];
                };
            };
            /** @description The post is published. */
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
            /** @description A file is not a JPEG, PNG, GIF or WebP, or also contains an archive or a script; or the server does not support images. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The part of the image that the header `Range` requests. */
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
            /** @description The id in the path or the id of the caller is malformed. */
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
            404: components["responses"]["NotFound"];
            /** @description The requested range is outside the image. `Content-Range` has the size of the image. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePost: {
        parameters: {
            query?: {
                /** @description The group to remove the post from. */
                circle?: components["schemas"]["AgentID"];
                /**
                 * @description Why it is removed. Only its author sees it.
                 * @example off topic
                 */
                reason?: string;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The post as the caller sees it. For an admin, `data` is empty if the post is not public. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
    getLikes: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
                 *     this position, in the requested order. A cursor remains valid when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Maximum number of posts on a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
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
    getReplies: {
        parameters: {
            query?: {
                /** @description Which replies come first. */
                order?: "newest" | "oldest";
                /**
                 * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
                 *     this position, in the requested order. A cursor remains valid when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Maximum number of posts on a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
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
            400: components["responses"]["BadBodyOrID"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
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
    patchAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchAuthorRequest"];
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
    putAuthorImage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /** @description At most 5 MiB. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PutAuthorImageRequest"];
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
            415: components["responses"]["NoPicture"];
            422: components["responses"]["BadPicture"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postAuthorCards: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 64 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostAuthorCardsRequest"];
            };
        };
        responses: {
            /** @description The cards. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostAuthorCardsAnswer"];
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
    getAuthorPosts: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
                 *     this position, in the requested order. A cursor remains valid when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Maximum number of posts on a page. Default 20, or 10 with `view=grid`. */
                limit?: number;
                /** @description `grid` returns a tile for each post, with its first thumbnail and counts, instead of the post. */
                view?: "grid";
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's agent id.
                 * @example u_10086
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AuthorPosts"];
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
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
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
            /** @description The number of new follows, and the authors who were refused. */
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
                /** @description Maximum number of authors. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The authors, best first. Fewer than `limit` only if there are no others. */
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
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The author to follow. An agent that follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentOrCaller"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The author to follow. An agent that follows `@server` gets every public post.
                 * @example u_1
                 */
                author: components["schemas"]["AgentOrCaller"];
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
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The agent to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The agent to block.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
                /** @description `owned`: those that the caller owns. `joined`: groups and events of others that the caller is in. `invited`: groups and events that the caller may join, without events that are over and invitations by agents whose invitations the caller has muted. */
                of?: "owned" | "joined" | "invited";
                /**
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of circles. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Circle"];
            400: components["responses"]["BadBodyOrID"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
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
            422: components["responses"]["CircleRule"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
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
    patchCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 1 MiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchCircleRequest"];
            };
        };
        responses: {
            200: components["responses"]["Circle"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            422: components["responses"]["CircleRule"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCirclePosts: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response, `<post id>:<Unix seconds>`. The page begins after
                 *     this position, in the requested order. A cursor remains valid when its post is deleted.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: components["parameters"]["Cursor"];
                /** @description Maximum number of posts on a page. Default 20, or 10 with `view=grid`. */
                limit?: number;
                /** @description `grid` returns a tile for each post, with its first thumbnail and counts, instead of the post. */
                view?: "grid";
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
                 * @example c1
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AuthorPosts"];
            400: components["responses"]["BadPage"];
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
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                agent: components["schemas"]["AgentOrCaller"];
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
            422: components["responses"]["CircleRule"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                agent: components["schemas"]["AgentOrCaller"];
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
    getInvitations: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The circle's id. Ids are shared by all agents.
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
    invite: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The agent to invite, or who was invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
            422: components["responses"]["CircleRule"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                id: components["schemas"]["AgentID"];
                /**
                 * @description The agent to invite, or who was invited.
                 * @example u_2
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
    getMutedCircles: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of ids of circles, in byte order. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMutedCirclesAnswer"];
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
    muteCircle: {
        parameters: {
            query?: {
                /**
                 * @description When the mute ends, in the future. Left out, it has no end.
                 * @example 2099-12-31T12:00:00Z
                 */
                until?: components["parameters"]["MuteUntil"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                circle: components["schemas"]["AgentID"];
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
    unmuteCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The id of a group or an event.
                 * @example rowers
                 */
                circle: components["schemas"]["AgentID"];
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
    getMutedInvitations: {
        parameters: {
            query?: {
                /**
                 * @description The `next_after` of the previous page. Left out for the first page.
                 * @example u_77
                 */
                after?: components["parameters"]["After"];
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["ListLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
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
    muteInvitations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The owner of groups and events.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
    unmuteInvitations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The owner of groups and events.
                 * @example u_9
                 */
                agent: components["schemas"]["AgentOrCaller"];
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
    getNotifications: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response. What has become newer since is on the first page.
                 * @example 17.follow..2026-03-06
                 */
                cursor?: string;
                /** @description Maximum number of posts on a page. */
                limit?: components["parameters"]["PageLimit"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of notifications. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetNotificationsAnswer"];
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
    seeNotifications: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        /** @description At most 1 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeeNotificationsRequest"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
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
    getMutedNotifications: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The kinds, in byte order. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMutedNotificationsAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    muteNotifications: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The kind of notifications.
                 * @example like
                 */
                kind: components["schemas"]["NotificationKind"];
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
    unmuteNotifications: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
                /**
                 * @description The kind of notifications.
                 * @example like
                 */
                kind: components["schemas"]["NotificationKind"];
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
    getExport: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state of the export. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskExportAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    askExport: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export is being made, or is there already. */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskExportAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExportFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["parameters"]["Agent"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The zip. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    "X-Content-Type-Options": "nosniff";
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            /** @description The part of the zip that the header `Range` requests. */
            206: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    "X-Content-Type-Options": "nosniff";
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            /** @description There is no export, or it is not ready; `msg` says what to do. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The export was fetched already. */
            410: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The requested range is outside the zip. `Content-Range` has its size. */
            416: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reportPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
        /** @description At most 8 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReport"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reportItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of an item that is no post. Of an id that ends in `/report`, the slash is escaped as `%2F`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        /** @description At most 8 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReport"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reportAuthor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The author's id.
                 * @example u_2
                 */
                id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /** @description At most 8 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReport"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reportCircle: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of a group or an event that the agent is in, or is invited to.
                 * @example hiking
                 */
                id: components["schemas"]["AgentID"];
            };
            cookie?: never;
        };
        /** @description At most 8 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReport"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReports: {
        parameters: {
            query?: {
                /** @description `open`, or `decided` for those that were. */
                state?: "open" | "decided";
                /**
                 * @description The `next_cursor` of an earlier response.
                 * @example 1772791200000000:author:u_1
                 */
                cursor?: string;
                /** @description Maximum number of entries of the page. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of reported objects. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReportsAnswer"];
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
    moderate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModerationAction"];
            };
        };
        responses: {
            200: components["responses"]["Changed"];
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
    getModeratedPosts: {
        parameters: {
            query?: {
                /**
                 * @description Only posts by this author.
                 * @example u_1
                 */
                author?: string;
                /** @description Only posts that moderators hold, or have removed. */
                state?: "held" | "removed";
                /** @description Only posts that were reported. */
                reported?: boolean;
                /** @description Only posts created at this time or later, in Unix seconds. */
                since?: number;
                /** @description Only posts created before this time, in Unix seconds. */
                until?: number;
                /**
                 * @description The `next_cursor` of an earlier response.
                 * @example post:0064dcbdbd86c03f2a9c1e77b04d5d:1772791200
                 */
                cursor?: string;
                /** @description Maximum number of entries of the page. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of posts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetModeratedPostsAnswer"];
                };
            };
            400: components["responses"]["BadPage"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getModeratedPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The post. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetModeratedPostAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAudit: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response.
                 * @example 2
                 */
                cursor?: string;
                /** @description Maximum number of entries of the page. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the audit log. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAuditAnswer"];
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
    postGraphEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The compression of the body. */
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
            /** @description The whole body was processed. Check `rejected`. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Profile"];
            400: components["responses"]["BadBodyOrID"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the profile to change, or `*` for any existing profile. Without it, the
                 *     stored profile is changed unconditionally.
                 * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
                 */
                "If-Match"?: components["parameters"]["IfProfileMatch"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /** @description At most 2 MiB. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the profile to change, or `*` for any existing profile. Without it, the
                 *     stored profile is changed unconditionally.
                 * @example "0d8a4cf2a1b9e3570d8a4cf2a1b9e357"
                 */
                "If-Match"?: components["parameters"]["IfProfileMatch"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        /** @description At most 2 MiB. */
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
            query?: {
                /**
                 * @description When the mute ends, in the future. Left out, it has no end.
                 * @example 2099-12-31T12:00:00Z
                 */
                until?: components["parameters"]["MuteUntil"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The author whose items are not shown. Slashes need not be escaped.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The author whose items are not shown. Slashes need not be escaped.
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
            query?: {
                /**
                 * @description When the mute ends, in the future. Left out, it has no end.
                 * @example 2099-12-31T12:00:00Z
                 */
                until?: components["parameters"]["MuteUntil"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items with this tag are not shown. Slashes need not be escaped.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items with this tag are not shown. Slashes need not be escaped.
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
    getMutedItems: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of an earlier response.
                 * @example 41.doc_9527
                 */
                cursor?: string;
                /** @description Maximum number of entries. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of what the agent has hidden. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMutedItemsAnswer"];
                };
            };
            400: components["responses"]["BadMutedPage"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    muteItem: {
        parameters: {
            query?: {
                /**
                 * @description When the mute ends, in the future. Left out, it has no end.
                 * @example 2099-12-31T12:00:00Z
                 */
                until?: components["parameters"]["MuteUntil"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The item or group that is not shown. Slashes need not be escaped.
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
            422: components["responses"]["MostMutedItems"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description The item or group that is not shown. Slashes need not be escaped.
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
    muteWord: {
        parameters: {
            query?: {
                /**
                 * @description When the mute ends, in the future. Left out, it has no end.
                 * @example 2099-12-31T12:00:00Z
                 */
                until?: components["parameters"]["MuteUntil"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items and posts with this word, or with the words of this phrase next to each other, are not
                 *     shown. Slashes need not be escaped.
                 * @example spoiler
                 */
                word: components["schemas"]["MutedTerm"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Changed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["MostMutedWords"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unmuteWord: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
                /**
                 * @description Items and posts with this word, or with the words of this phrase next to each other, are not
                 *     shown. Slashes need not be escaped.
                 * @example spoiler
                 */
                word: components["schemas"]["MutedTerm"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The agent, or `~` for the caller. Only an admin may name another agent than the caller.
                 * @example u_10086
                 */
                agent_id: components["schemas"]["AgentOrCaller"];
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
                /** @description Only items whose title has all of these words, at most ten, in any case. In an external index its own analyzer compares them. */
                words?: string;
                /** @description Unix seconds. Only items whose `update_time` is this or later. */
                since?: number;
                /** @description The `next_cursor` of the previous page. Other values are rejected. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of items. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetItemsAnswer"];
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
                 * @description Skip items whose `update_time` is not later than that of the stored item, and count them
                 *     as `kept`. If no item is stored yet, and another upload stores one at the same moment,
                 *     an older item may still replace it.
                 */
                if_newer?: boolean;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The compression of the body. */
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
            /** @description The whole body was processed. Check `rejected`. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The compression of the body. */
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
            /** @description The whole body was processed. Check `rejected`. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. Slashes may be escaped as `%2F`, but need not be.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stored item. For a post, the same as `GET /v1/posts/{id}` without an agent. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetItemAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. Slashes may be escaped as `%2F`, but need not be.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The item's id. Slashes may be escaped as `%2F`, but need not be.
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
            /** @description The stored item after the change. */
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
    getRelated: {
        parameters: {
            query?: {
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /**
                 * @description The id of an item or a post that the agent may see. Slashes may be escaped as `%2F`, but need not be, except the last one of an id that ends in `/related`.
                 * @example doc_9527
                 */
                id: components["schemas"]["ItemID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The related items and posts. There may be fewer than `limit`, or none. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRelatedAnswer"];
                };
            };
            400: components["responses"]["BadBodyLimitOrID"];
            401: components["responses"]["Unauthenticated"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postExplain: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The explanation of the refresh. */
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
            404: components["responses"]["NotFound"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["RankingVersion"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadBody"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version to change. `*`, or no header, means the newest version.
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
                /** @description Maximum number of versions. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest versions, newest first, with who changed the ranking, when and why. Version 0 is the configured ranking. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRankingHistoryAnswer"];
                };
            };
            /** @description A parameter is unknown or a duplicate, or the limit is invalid. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version to change. `*`, or no header, means the newest version.
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
                /** @description Number of days in UTC, including today. With whole weeks, each day of the week has the same weight. */
                days?: number;
                /** @description The difference, as a part of the rate of `control`, for which `size` says how long a test takes. */
                effect?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures of each variant, `control` first. */
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
    getFeeds: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All stored feeds, by name, and the version of the ranking that holds them, which is also the `ETag`. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetFeedsAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getStoredFeed: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path: {
                /** @description The name of a stored feed, which readers send as `feed`. It cannot be one that has another meaning: `for_you`, `home`, `named`, `guest`, `tag`, `lang`. */
                name: components["schemas"]["StoredFeedName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["StoredFeed"];
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putStoredFeed: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version to change. `*`, or no header, means the newest version.
                 * @example "3"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The name of a stored feed, which readers send as `feed`. It cannot be one that has another meaning: `for_you`, `home`, `named`, `guest`, `tag`, `lang`. */
                name: components["schemas"]["StoredFeedName"];
            };
            cookie?: never;
        };
        /** @description At most 64 KiB, and 1 to 100 conditions. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutStoredFeedRequest"];
            };
        };
        responses: {
            200: components["responses"]["StoredFeed"];
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            412: components["responses"]["NotCurrent"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["WrongType"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteStoredFeed: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The `ETag` of the version to change. `*`, or no header, means the newest version.
                 * @example "3"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The name of a stored feed, which readers send as `feed`. It cannot be one that has another meaning: `for_you`, `home`, `named`, `guest`, `tag`, `lang`. */
                name: components["schemas"]["StoredFeedName"];
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
            412: components["responses"]["NotCurrent"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postCompare: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The comparison. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The outcome of each click, in order. */
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
                /** @description Only promotions with ids after this one. */
                after?: components["schemas"]["AgentID"];
                /** @description Maximum number of promotions. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of promotions, by id. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPromotionsAnswer"];
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            400: components["responses"]["BadBodyOrID"];
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                /** @description Only jobs with this key, for example the id of a post. */
                key?: string;
                /** @description Only jobs with ids greater than this one. */
                after?: number;
                /** @description Maximum number of jobs. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the jobs, by id, and a summary of the whole queue. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetJobsAnswer"];
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
            /** @description The jobs that were enqueued. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostJobsAnswer"];
                };
            };
            /** @description The body, or the id in it, is invalid. Do not retry the call unchanged. */
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
    rederive: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 4 KiB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RederiveRequest"];
            };
        };
        responses: {
            /** @description What this call has enqueued. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RederiveAnswer"];
                };
            };
            /** @description The body is invalid. Do not retry the call unchanged. */
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
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
    getChanges: {
        parameters: {
            query?: {
                /**
                 * @description The cursor after which to continue; `oldest` for all that is kept. Without it, from now on.
                 * @example oldest
                 */
                after?: string;
                /**
                 * @description How long to wait for a change if there is none, at most 30 s. A stream always waits.
                 * @example 100ms
                 */
                wait?: string;
                /**
                 * @description Only changes of these types, separated by commas.
                 * @example follow.created,like.created
                 */
                types?: string;
                /** @description Maximum number of changes in an answer, or at once in a stream. */
                limit?: number;
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
                /**
                 * @description The same, as `EventSource` sends it. It has priority.
                 * @example oldest
                 */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/event-stream": string;
                };
            };
            /** @description A parameter is invalid. Do not retry the call unchanged. */
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
            /**
             * @description The cursor is older than what is kept, or of another database. Read again what you keep from
             *     the other routes, and begin without a cursor or with `oldest`.
             */
            410: {
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
    getConfigDiff: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings that differ, in the order of the shipped file. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetConfigDiffAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            /** @description The configuration cannot be used; `msg` names each setting and what is wrong with it. The one in force stays. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["Internal"];
        };
    };
    reloadConfig: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings that differ, in the order of the shipped file. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetConfigDiffAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            /** @description The configuration cannot be used; `msg` names each setting and what is wrong with it. The one in force stays. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["Internal"];
        };
    };
    feedPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An HTML page. It loads files only from this server. */
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
    console: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An HTML page. It loads files only from this server. */
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
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An HTML page. It loads files only from this server. */
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
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The path of the file. It may contain slashes.
                 * @example base.css
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A style sheet, a script or an image. */
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
            /** @description The server is ready. */
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
            /** @description The server is not ready. */
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
            /** @description The metrics in the text format of Prometheus, or in another format that `Accept` names. */
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
    getOverview: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The points, oldest first. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetOverviewAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReaders: {
        parameters: {
            query: {
                /**
                 * @description The id of an item or a post. One that nobody has acted on has 0.
                 * @example doc_9527
                 */
                item: components["schemas"]["ItemID"];
            };
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReadersAnswer"];
                };
            };
            400: components["responses"]["BadBodyOrID"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the server that answers knows without asking others. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSystemAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postDoctor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies this call in the server's log and in the response: up to 128 characters of
                 *     `A-Z a-z 0-9 _ . : / + = @ -`. The server replaces any other value. It is unrelated to
                 *     `request_id`.
                 */
                "X-Request-ID"?: components["parameters"]["CallID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["CallID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDoctorAnswer"];
                };
            };
            400: components["responses"]["BadBody"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This description, as OpenAPI 3.1. */
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
