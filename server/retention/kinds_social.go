package retention

func postKinds() []Kind {
	return []Kind{
		{
			What: "posts and replies, with their audience, mentions, images and likes", Social: []string{"posts", "post_circles", "post_mentions", "reply_mentions", "likes"},
			Kept: "as long as the author keeps them", Removed: "`DELETE /v1/posts/{id}`; " + byErase, Rows: 600_000, Bytes: 1_400,
			Grows: "what people publish is theirs",
		},
		{
			What: "tombstones of posts, follows, members, circles and authors", Social: []string{"posts", "follows", "members", "circles", "authors"},
			Kept: "30 days", Removed: byPurger, Rows: 400_000, Bytes: 250,
		},
		{
			What: "likes and replies of posts that have ended", Social: []string{"revived"},
			Kept: "until the next purge", Removed: byPurger,
		},
		{
			What: "what moderators have hidden, and removals from groups", Social: []string{"moderated", "moderated_circles", "removals"},
			Kept: "as long as the post", Removed: "with its tombstone", Rows: 2_000, Bytes: 150,
		},
		{
			What: "names of stored images", Social: []string{"files"},
			Kept: "as long as the post, or the card, that has them", Removed: "the job `images`, an hour after a post or card did not get them, and after it has lost them", Rows: 200_000, Bytes: 120,
		},
		{
			What: "images", Files: []string{"media/*"},
			Kept: "as long as the post, or the card, that has them", Removed: "the job `images`", Rows: 200_000, Bytes: 150_000,
			Grows: "with the posts",
		},
		{
			What: "idempotency keys", Social: []string{"post_keys"},
			Kept: "24 h", Removed: byPurger, Rows: 20_000, Bytes: 200,
		},
		{
			What: "promotions", Social: []string{"promotions"},
			Kept: "90 days after their end", Removed: byPurger, Rows: 500, Bytes: 200,
		},
		{
			What: "cards of posts, for outages", Redis: []string{"feed:post:<id>", "feed:erased:<author>"},
			Kept: "an hour", Removed: byTTL, Rows: 50_000, Bytes: 900,
		},
		{
			What: "lists of timelines, outboxes of authors with many followers", Redis: []string{"timeline:<agent_id>", "celebrity_posts:<author_id>", "lists:stamp", "lists:probe"},
			Kept: "7 days after the last read", Removed: byTTL, Rows: 550_000, Bytes: 20_500,
		},
	}
}

func peopleKinds() []Kind {
	return []Kind{
		{
			What: "authors: cards and counts; when an agent was erased, and suspensions", Social: []string{"authors", "post_counts", "public_authors"},
			Kept: "as long as the agent", Removed: byErase, Rows: 20_000, Bytes: 100,
			Grows: "by a row for each erased agent: nothing that was granted to the id applies to its next owner",
		},
		{
			What: "follows, blocks, circles, groups, members, invitations and mutes", Social: []string{"follows", "blocks", "circles", "members", "invitations", "mutes"},
			Kept: "until they are ended, within [limits](security.md#limits) for each agent", Removed: "their routes; " + byErase, Rows: 30_000_000, Bytes: 85,
		},
		{
			What: "declined invitations", Social: []string{"refusals"},
			Kept: "30 days", Removed: byPurger, Rows: 30_000, Bytes: 150,
		},
		{
			What: "suggested authors", Social: []string{"suggestions"},
			Kept: "2 days", Removed: byPurger, Rows: 300_000, Bytes: 1_500,
		},
		{
			What: "notifications", Social: []string{"notifications"},
			Setting: "notifications.retention", Removed: byPurger + "; of an agent beyond `notifications.most` the next act", Rows: 15_000_000, Bytes: 340,
		},
		{
			What: "what agents have seen of their notifications", Social: []string{"inboxes"},
			Kept: "as long as the agent", Removed: byErase, Rows: 1_000_000, Bytes: 25,
		},
		{
			What: "reports that were decided, with the decision", Social: []string{"reports", "reported"},
			Setting: "reports.retention", Kept: "open ones until they are decided", Removed: byPurger + "; " + byErase, Rows: 36_500, Bytes: 360,
		},
		{
			What: "the audit log of moderators", Social: []string{"audit"},
			Kept: "for ever", Rows: 6_000, Bytes: 140,
			Grows: "a log that ends proves nothing: a row for each decision and each look at what others may not see",
		},
	}
}

func operationKinds() []Kind {
	return []Kind{
		{
			What: "changes for other systems", Social: []string{"changes", "changes_state"},
			Setting: "changes.retention", Removed: byPurger, Rows: 1_200_000, Bytes: 240,
		},
		{
			What: "exports of agents", Social: []string{"exports", "export_parts"}, Files: []string{"exports/*/*"},
			Kept: "an hour after they were fetched, 24 h at most", Removed: byPurger + "; " + byErase, Rows: 300, Bytes: 1_000_000,
		},
		{
			What: "jobs that wait, run, or are done", Social: []string{"jobs"},
			Kept: "done ones 10 min with PostgreSQL, else not at all", Removed: "the workers", Rows: 20_000, Bytes: 350,
		},
		{
			What: "jobs that have failed for good", Social: []string{"jobs"},
			Kept: "until somebody tries them again or drops them", Removed: "`freshet jobs retry`, `drop`",
			Grows: "only while an alert rings: each is work that was promised, such as an erasure. One of each kind and object, 350 bytes",
		},
		{
			What: "what has changed, so that servers evict it from memory", Postgres: []string{"touched", "touched_state"},
			Kept: "3 min", Removed: "the workers", Rows: 4_000, Bytes: 80,
		},
		{
			What: "events of other systems", Redis: []string{"freshet:events:dead"}, Untimed: []string{"freshet:events", "freshet:events:dead"},
			Kept: "until every group has read them; refused ones 7 days", Removed: "the servers, every ten seconds",
		},
		{
			What: "figures of the console", Redis: []string{"overview:60:<begin>", "overview:3600:<begin>"}, Files: []string{"overview.json"},
			Kept: "an hour by the minute, a week by the hour", Removed: "the next sample; " + byTTL, Rows: 230, Bytes: 600,
		},
		{
			What: "settings that servers share, versions of tables, who purges", Social: []string{"freshet_schema"}, Postgres: []string{"freshet_settings", "freshet_migrations"},
			Catalog: []string{"freshet_schema"}, Events: []string{"freshet_schema"}, CoRead: []string{"freshet_schema"},
			Redis: []string{"feed:retention:lease"}, Untimed: []string{"feed:settings"}, Files: []string{"lock", "*/lock"},
			Kept: "for ever: a row each", Rows: 10, Bytes: 100,
		},
		{
			What: "databases", Files: []string{"catalog.db", "events.db", "social.db", "coread.db", "*.db-wal", "*.db-shm"},
			Kept: "as what is in them; space that is freed is used again", Removed: "",
		},
		{
			What: "damaged parts of journals", Files: []string{"impressions/*.corrupt", "spool/*.unreadable", "spool/*.corrupt"},
			Kept: "until you delete them", Removed: "you: each is written once, after a fault of the disk",
		},
		{
			What: "an interrupted restore", Files: []string{"restoring*"},
			Kept: "until the restore has ended", Removed: "`freshet restore`",
		},
	}
}
