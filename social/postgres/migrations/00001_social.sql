-- +goose Up

-- The statements of a released migration are never changed; changes are new migrations.
--
-- Stamps are Unix microseconds. gone is 0 for existing rows. Otherwise it is the stamp at
-- which this store learned that the row does not exist, or not yet; such rows stay for a
-- while as tombstones. Ids are ordered by their bytes. Tables with counters leave space in
-- their pages, so that updating a counter writes no index.

CREATE TABLE posts (
	id text COLLATE "C" PRIMARY KEY,
	author text COLLATE "C" NOT NULL, -- '' if the post was reported before it was created
	created_at bigint NOT NULL, -- Unix seconds
	reach smallint NOT NULL, origin text NOT NULL, reply text NOT NULL, react text NOT NULL,
	version bigint NOT NULL,
	likes_here bigint NOT NULL, likes_reported bigint NOT NULL, comments_reported bigint NOT NULL,
	created bigint NOT NULL, deleted bigint NOT NULL,
	caption_at bigint NOT NULL, tags_at bigint NOT NULL, alts_at bigint NOT NULL, counted bigint NOT NULL,
	gone bigint NOT NULL,
	tags text[] NOT NULL, grants text[] NOT NULL,
	content text NOT NULL -- JSON, exactly as readers get it
) WITH (fillfactor = 90);
CREATE INDEX posts_by_author ON posts (author, created_at DESC, id DESC) INCLUDE (reach) WHERE gone = 0;
CREATE INDEX posts_public ON posts (created_at DESC, id DESC) INCLUDE (author) WHERE gone = 0 AND reach = 2;
CREATE INDEX posts_gone ON posts (gone) WHERE gone > 0;

CREATE TABLE post_circles (
	post text COLLATE "C" NOT NULL, circle text COLLATE "C" NOT NULL,
	author text COLLATE "C" NOT NULL, created_at bigint NOT NULL,
	PRIMARY KEY (post, circle)
);
CREATE INDEX post_circles_by_circle ON post_circles (circle, created_at DESC, post DESC) INCLUDE (author);

CREATE TABLE post_mentions (
	post text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	author text COLLATE "C" NOT NULL, created_at bigint NOT NULL,
	PRIMARY KEY (post, agent)
);
CREATE INDEX post_mentions_by_agent ON post_mentions (agent, created_at DESC, post DESC) INCLUDE (author);

CREATE TABLE post_keys (
	author text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
	post text COLLATE "C" NOT NULL, print text NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (author, key)
);
CREATE INDEX post_keys_by_time ON post_keys (at);

-- One row for each agent who has ever written anything. Changes of an agent lock it, so they
-- are serialized.
CREATE TABLE authors (
	id text COLLATE "C" PRIMARY KEY,
	name text NOT NULL DEFAULT '', image_url text NOT NULL DEFAULT '', bio text NOT NULL DEFAULT '',
	card_at bigint NOT NULL DEFAULT 0, has_card boolean NOT NULL DEFAULT false,
	followers bigint NOT NULL DEFAULT 0, following bigint NOT NULL DEFAULT 0,
	delivery text NOT NULL DEFAULT 'push', delivery_at bigint NOT NULL DEFAULT 0,
	erased bigint NOT NULL DEFAULT 0, -- card, posts and followers up to this stamp
	erased_agent bigint NOT NULL DEFAULT 0, -- everything else
	erasing smallint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0;
-- The posts of few authors are pulled. Every page of a timeline queries which of these
-- authors its reader follows. With this index the query reads only these few authors, not
-- all follows of the reader.
CREATE INDEX authors_pulled ON authors (id) WHERE delivery <> 'push';

CREATE TABLE follows (
	agent text COLLATE "C" NOT NULL, author text COLLATE "C" NOT NULL,
	at bigint NOT NULL, gone bigint NOT NULL,
	PRIMARY KEY (agent, author)
);
CREATE INDEX follows_by_author ON follows (author, agent) WHERE gone = 0;
CREATE INDEX follows_gone ON follows (gone) WHERE gone > 0;

CREATE TABLE blocks (
	agent text COLLATE "C" NOT NULL, other text COLLATE "C" NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (agent, other)
);

CREATE TABLE circles (
	id text COLLATE "C" PRIMARY KEY, owner text COLLATE "C" NOT NULL, name text NOT NULL,
	put bigint NOT NULL, dropped bigint NOT NULL,
	replaced bigint NOT NULL, -- stamp of the last replacement of all members: those that it did not name are removed
	size int NOT NULL, gone bigint NOT NULL
);
CREATE INDEX circles_by_owner ON circles (owner) WHERE gone = 0;
CREATE INDEX circles_gone ON circles (gone) WHERE gone > 0;

CREATE TABLE members (
	circle text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	at bigint NOT NULL, gone bigint NOT NULL,
	PRIMARY KEY (circle, agent)
);
CREATE INDEX members_by_agent ON members (agent, circle) WHERE gone = 0;
CREATE INDEX members_gone ON members (gone) WHERE gone > 0;

CREATE TABLE likes (
	post text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	author text COLLATE "C" NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (post, agent)
);
CREATE INDEX likes_by_agent ON likes (agent, author, at);

CREATE TABLE promotions (
	id text COLLATE "C" PRIMARY KEY, item text COLLATE "C" NOT NULL,
	starts bigint NOT NULL, ends bigint NOT NULL, -- Unix seconds
	weight double precision NOT NULL,
	tags text[] NOT NULL, langs text[] NOT NULL
);
CREATE INDEX promotions_by_end ON promotions (ends);

CREATE TABLE files (
	key text COLLATE "C" PRIMARY KEY, post text COLLATE "C" NOT NULL,
	state smallint NOT NULL -- reserved, used, unused: social.FileReserved and so on
);
CREATE INDEX files_by_post ON files (post);

-- Rows of the queue are updated constantly. Dead tuples are vacuumed early, otherwise leasing
-- jobs would have to skip them.
CREATE TABLE jobs (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind text NOT NULL, key text COLLATE "C" NOT NULL,
	generation bigint NOT NULL, priority int NOT NULL, state text NOT NULL,
	due bigint NOT NULL, run_at bigint NOT NULL, attempts int NOT NULL, error text NOT NULL,
	lease bigint NOT NULL, leased_generation bigint NOT NULL, leased_till bigint NOT NULL, finished bigint NOT NULL,
	UNIQUE (kind, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX jobs_by_priority ON jobs (priority, due, id) INCLUDE (run_at, kind) WHERE state IN ('pending', 'failed');
CREATE INDEX jobs_by_due ON jobs (due, id) INCLUDE (run_at, kind) WHERE state IN ('pending', 'failed');
CREATE INDEX jobs_leased ON jobs (leased_till) WHERE state = 'running';
CREATE INDEX jobs_finished ON jobs (finished) INCLUDE (kind) WHERE state = 'completed';
CREATE INDEX jobs_dead ON jobs (kind) WHERE state = 'dead';

-- oldest is the schema version that a program must know at least to use this database. A
-- migration that only adds tables, or columns with defaults, does not change it. A migration
-- after which older programs would fail or do harm raises it, which CHANGELOG.md mentions.
CREATE TABLE freshet_schema (oldest bigint NOT NULL);
INSERT INTO freshet_schema (oldest) VALUES (1);
