-- Completed
WITH held AS MATERIALIZED (SELECT j.id FROM (SELECT value ->> 0 AS id, value ->> 1 AS lease FROM json_each($2) LIMIT -1) h CROSS JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
	ORDER BY j.kind, j.key)
		UPDATE jobs SET leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END, finished = CASE WHEN generation = leased_generation THEN $1 ELSE 0 END FROM held WHERE jobs.id = held.id RETURNING jobs.id, state;

-- Leased
UPDATE jobs SET leased_till = $1 + $3, worker = $4, changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END, state = 'running', lease = lease + 1, leased_generation = generation, attempts = attempts + 1
		FROM (SELECT value AS chosen FROM json_each($2)) c WHERE id = chosen RETURNING id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished;

-- Now
SELECT ? - 1000000;

-- Query.circle
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, put, dropped, replaced, joined, posted, reported, told, coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) FROM circles c WHERE id = ?;

-- Query.moderatedPosts
SELECT p.id, coalesce(m.state, 0), coalesce(m.reach, 0),
		(SELECT json_group_array(mc.circle) FROM moderated_circles mc WHERE mc.post = p.id AND mc.circle <> '' ORDER BY mc.circle),
		coalesce((SELECT rm.reason FROM removals rm WHERE rm.post = p.id AND rm.circle = '*'), ''),
		(SELECT count(*) FROM reports r WHERE r.kind = 'post' AND r.object = p.id), coalesce(a.suspended_until, 0), p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0)))
		FROM posts p LEFT JOIN moderated m ON m.post = p.id LEFT JOIN authors a ON a.id = p.author WHERE p.id IN (SELECT value FROM json_each(?));

-- Query.moderatedPosts, for a list of one
SELECT p.id, coalesce(m.state, 0), coalesce(m.reach, 0),
		(SELECT json_group_array(mc.circle) FROM moderated_circles mc WHERE mc.post = p.id AND mc.circle <> '' ORDER BY mc.circle),
		coalesce((SELECT rm.reason FROM removals rm WHERE rm.post = p.id AND rm.circle = '*'), ''),
		(SELECT count(*) FROM reports r WHERE r.kind = 'post' AND r.object = p.id), coalesce(a.suspended_until, 0), p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0)))
		FROM posts p LEFT JOIN moderated m ON m.post = p.id LEFT JOIN authors a ON a.id = p.author WHERE p.id = ?;

-- Query.readReports
SELECT agent, reason, details, at / 1000000 FROM reports WHERE kind = ? AND object = ? ORDER BY at DESC, agent LIMIT +?;

-- Query.readReports
SELECT reason, count(*) FROM reports WHERE kind = ? AND object = ? GROUP BY reason;

-- Query.role
SELECT
			EXISTS (SELECT 1 FROM members WHERE circle = $1 AND agent = $2 AND gone = 0 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $2), 0)),
			EXISTS (SELECT 1 FROM circles c JOIN invitations i ON i.circle = c.id AND i.agent = $2 WHERE c.id = $1 AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)));

-- Store.Audit
SELECT seq, at, who, action, kind, object, reason FROM audit WHERE seq < $1 OR $1 = 0 ORDER BY seq DESC LIMIT +$2;

-- Store.Author
SELECT name, image_url, bio, has_card, followers, following, erased, suggest_from_follows, not_recommended,
					suspended_until, suspended_for FROM authors WHERE id = ?;

-- Store.Author
SELECT public, followers, own FROM post_counts WHERE author = ?;

-- Store.Blocked
SELECT other FROM blocks WHERE agent = ? AND other > ? ORDER BY other LIMIT +?;

-- Store.Celebrity
SELECT delivery, delivery_at, followers FROM authors WHERE id = ?;

-- Store.ChangeExport
SELECT agent, name, state, parts, bytes, sent, asked, until, reason FROM exports WHERE agent = ? AND agent <> '';

-- Store.DeletePromotion
DELETE FROM promotions WHERE id = ?;

-- Store.Drop
DELETE FROM jobs WHERE id = ?;

-- Store.DropExport
DELETE FROM exports WHERE name = ?;

-- Store.DropExportParts
DELETE FROM export_parts WHERE name = ?;

-- Store.DropFiles
DELETE FROM files WHERE key IN (SELECT value FROM json_each(?)) AND state = ?;

-- Store.DropFiles, for a list of one
DELETE FROM files WHERE key = ? AND state = ?;

-- Store.EndLeases
UPDATE jobs SET leased_till = 0 WHERE state = 'running';

-- Store.EndedExports
SELECT agent, name, state, parts, bytes, sent, asked, until, reason FROM exports WHERE agent = '' OR until <= ? OR until > ? ORDER BY until, name LIMIT +?;

-- Store.EraseSome
SELECT erased, erased_agent, erasing FROM authors WHERE id = ?;

-- Store.ErasedAgents
SELECT id, erased_agent FROM authors WHERE erased_agent > 0 AND (erased_agent, id) > (?, ?) ORDER BY erased_agent, id LIMIT +?;

-- Store.ExportPart
SELECT data FROM export_parts WHERE name = ? AND part = ?;

-- Store.ExportParts
SELECT coalesce(sum(parts), 0) FROM exports;

-- Store.FileOwner
SELECT post FROM files WHERE key = ? AND state = ?;

-- Store.Followers
SELECT f.agent FROM follows f LEFT JOIN authors a ON a.id = f.agent
		WHERE f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0) AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0) AND f.agent > $2 AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $4 AND b.other = f.agent) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = f.agent AND b.other = $4) ORDER BY f.agent LIMIT +$3;

-- Store.Following
SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
		WHERE f.agent = $1 AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0) AND f.author > $2 AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $4 AND b.other = f.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = f.author AND b.other = $4) ORDER BY f.author LIMIT +$3;

-- Store.InboxStates
SELECT d.i - 1, b.number, b.seen FROM (SELECT value AS agent, key + 1 AS i FROM json_each(?)) d CROSS JOIN inboxes b ON b.agent = d.agent;

-- Store.Invited
SELECT i.agent FROM circles c JOIN invitations i ON i.circle = c.id
			WHERE c.id = $1 AND i.agent > $2 AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)) AND (c.until = 0 OR c.until > $4) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $5 AND b.other = i.agent) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = i.agent AND b.other = $5) ORDER BY i.agent LIMIT +$3;

-- Store.KeepSuggested
INSERT INTO suggestions (agent, at, content) VALUES ($1, $2, $3)
			ON CONFLICT (agent) DO UPDATE SET at = excluded.at, content = excluded.content
			WHERE suggestions.at <= $4 OR suggestions.at > $2;

-- Store.KeepSuggested
SELECT erased_agent, erasing > 0 FROM authors WHERE id = ?;

-- Store.Liked
SELECT post, at, author FROM likes WHERE agent = $1 AND (at, post) < ($2, $3) AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)
			ORDER BY at DESC, post DESC LIMIT +$4;

-- Store.List
SELECT id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished FROM jobs WHERE id > $1 AND ($2 = '' OR kind = $2) AND ($3 = '' OR state = $3)
			AND ($4 = '' OR key = $4) ORDER BY id LIMIT +$5;

-- Store.Members
SELECT m.agent FROM members m WHERE m.circle = $1 AND m.gone = 0
			AND m.agent > $2 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = m.agent), 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $4 AND b.other = m.agent) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $4) ORDER BY m.agent LIMIT +$3;

-- Store.Muted
SELECT id, until FROM mutes WHERE agent = $1 AND kind = $4 AND id > $2 AND (until = 0 OR until > $5) ORDER BY id LIMIT +$3;

-- Store.Notifications
SELECT number, seen FROM inboxes WHERE agent = ?;

-- Store.PairEntries
SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = ? AND f.author = ? AND f.gone = 0 AND coalesce(a.delivery, 'push') <> 'pull');

-- Store.Ping
SELECT 1;

-- Store.PostStates
SELECT p.id, p.version, p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END, coalesce((SELECT a.not_recommended FROM authors a WHERE a.id = p.author), false) FROM posts p WHERE p.id IN (SELECT value FROM json_each(?)) AND p.author <> '';

-- Store.PostStates, for a list of one
SELECT p.id, p.version, p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END, coalesce((SELECT a.not_recommended FROM authors a WHERE a.id = p.author), false) FROM posts p WHERE p.id = ? AND p.author <> '';

-- Store.Promotions
SELECT id, item, starts, ends, weight, tags, langs FROM promotions WHERE id > ? ORDER BY id LIMIT +?;

-- Store.PromotionsUntil
SELECT id, item, starts, ends, weight, tags, langs FROM promotions WHERE ends > ? ORDER BY id;

-- Store.Pull
SELECT circle FROM members WHERE agent = ? AND gone = 0;

-- Store.Purge
DELETE FROM post_keys WHERE (author, key) IN (SELECT x.author, x.key FROM post_keys x WHERE at <= ? ORDER BY at LIMIT +?);

-- Store.Purge
DELETE FROM refusals WHERE (agent, owner, circle) IN (SELECT x.agent, x.owner, x.circle FROM refusals x WHERE at <= ? ORDER BY at LIMIT +?);

-- Store.PutExportPart
INSERT INTO export_parts (name, part, data) VALUES (?, ?, ?) ON CONFLICT (name, part) DO UPDATE SET data = excluded.data;

-- Store.PutPromotion
INSERT INTO promotions (id, item, starts, ends, weight, tags, langs) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET item = excluded.item, starts = excluded.starts, ends = excluded.ends,
			weight = excluded.weight, tags = excluded.tags, langs = excluded.langs;

-- Store.PutPromotion
SELECT count(*) FROM promotions WHERE ends > ? AND id <> ?;

-- Store.Reenqueue
SELECT id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished FROM jobs WHERE kind IN (SELECT value FROM json_each($2)) AND id > $3
				AND (state = 'completed' AND finished >= $1 - $5 OR state = 'running') ORDER BY id LIMIT +$4;

-- Store.Reenqueue, for a list of one
SELECT id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished FROM jobs WHERE kind = $2 AND id > $3
				AND (state = 'completed' AND finished >= $1 - $5 OR state = 'running') ORDER BY id LIMIT +$4;

-- Store.Replies
SELECT q.author, q.created_at, q.id FROM posts q
		WHERE q.root = $2 AND q.root <> '' AND q.gone = 0 AND (q.removed < 2 OR q.author = $1) AND q.root_life > (SELECT p.deleted FROM posts p WHERE p.id = $2)
		AND (q.created_at, q.id) < ($3, $4) AND q.author = $1
		ORDER BY q.created_at DESC, q.id DESC LIMIT +$5;

-- Store.Replies
SELECT q.author, q.created_at, q.id FROM posts q
		WHERE q.root = $2 AND q.root <> '' AND q.gone = 0 AND (q.removed < 2 OR q.author = $1) AND q.root_life > (SELECT p.deleted FROM posts p WHERE p.id = $2)
		AND (q.created_at, q.id) > ($3, $4) AND q.author = $1
		ORDER BY q.created_at ASC, q.id ASC LIMIT +$5;

-- Store.Report
INSERT INTO reported AS k (kind, object, open, latest, decision, decided) VALUES (?, ?, true, ?, '', 0)
			ON CONFLICT (kind, object) DO UPDATE SET open = true, latest = max(k.latest, excluded.latest);

-- Store.Report
INSERT INTO reports (kind, object, agent, reason, details, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- Store.Reported
SELECT k.kind, k.object, k.open, k.latest, k.decision, k.decided FROM reported k WHERE k.open = (0 < ?) AND (k.latest, k.kind, k.object) < (?, ?, ?)
			ORDER BY k.latest DESC, k.kind DESC, k.object DESC LIMIT +?;

-- Store.ReserveFiles
INSERT INTO files (key, post, state) SELECT j.value, $2, $3 FROM (SELECT value AS value FROM json_each($1)) j WHERE true ON CONFLICT DO NOTHING;

-- Store.Retry
SELECT id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished FROM jobs WHERE id = ?;

-- Store.SeeNotifications
UPDATE inboxes SET seen = $2 WHERE agent = $1;

-- Store.SetDelivery
UPDATE authors SET delivery = $3, delivery_at = $4 WHERE id = $1 AND delivery = $2 RETURNING followers;

-- Store.Suggested
SELECT at, content FROM suggestions WHERE agent = $1 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0);

-- Store.Unmute
DELETE FROM mutes WHERE agent = ? AND kind = ? AND id = ?;

-- Store.Unsuggestable
SELECT author FROM follows WHERE agent = $1 AND author IN (SELECT value FROM json_each($2)) AND gone = 0
		UNION SELECT other FROM blocks WHERE agent = $1 AND other IN (SELECT value FROM json_each($2))
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent IN (SELECT value FROM json_each($2))
		UNION SELECT id FROM authors WHERE id IN (SELECT value FROM json_each($2)) AND (erased > $3 OR erasing > 0 OR suspended_until > $4 OR not_recommended);

-- Store.Unsuggestable, for a list of one
SELECT author FROM follows WHERE agent = $1 AND author = $2 AND gone = 0
		UNION SELECT other FROM blocks WHERE agent = $1 AND other = $2
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent = $2
		UNION SELECT id FROM authors WHERE id = $2 AND (erased > $3 OR erasing > 0 OR suspended_until > $4 OR not_recommended);

-- Store.UnusedFiles
SELECT key FROM files WHERE post = ? AND state = ?;

-- Store.UnusedFiles
UPDATE files SET state = ? WHERE post = ? AND state = ?;

-- Store.Withdraw
DELETE FROM invitations WHERE circle = ? AND agent = ?;

-- Store.avatar
SELECT image_url FROM authors WHERE id = ?;

-- Store.patchAuthor
SELECT name, image_url, bio, suggest_from_follows FROM authors WHERE id = ?;

-- Store.setMuted
DELETE FROM mutes WHERE agent = ? AND until > 0 AND until <= ?;

-- Tx.addComment
SELECT gone = 0 AND deleted < $2 FROM posts WHERE id = $1;

-- Tx.addComment
UPDATE posts SET comments_here = comments_here + $2, repliers = repliers + CASE WHEN EXISTS (SELECT 1 FROM posts o
			WHERE o.root = $1 AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > posts.deleted AND o.author = $3 AND o.id <> $4) THEN 0 ELSE $2 END
		WHERE id = $1 AND gone = 0 AND deleted < $5;

-- Tx.address
DELETE FROM post_circles WHERE post = ?;

-- Tx.address
DELETE FROM post_mentions WHERE post = ?;

-- Tx.address
DELETE FROM reply_mentions WHERE reply = ?;

-- Tx.addressedGroups
SELECT c.id, c.owner, c.kind <> 'circle', j.addressed FROM (
			SELECT pc.circle, pc.incarnation, true AS addressed FROM post_circles pc WHERE pc.post = $1
			UNION ALL SELECT rm.circle, rm.incarnation, false FROM removals rm WHERE rm.post = $2 AND $1 = $2
		) j JOIN circles c ON c.id = j.circle AND c.dropped < j.incarnation AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) ORDER BY c.id;

-- Tx.admitWaiting
SELECT coalesce(max(max(since, joined)), 0) FROM members WHERE circle = ? AND gone = 0;

-- Tx.admitWaiting
UPDATE members SET joined = at, since = CASE WHEN $2 THEN at ELSE CAST($3 AS bigint) END WHERE circle = $1 AND gone = 0;

-- Tx.agents
SELECT id, followers, following, delivery, card_at, erased, erased_agent, suspended_until, suspended_for, not_recommended, image_url
		FROM authors WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id;

-- Tx.agents, for a list of one
SELECT id, followers, following, delivery, card_at, erased, erased_agent, suspended_until, suspended_for, not_recommended, image_url
		FROM authors WHERE id = ? ORDER BY id;

-- Tx.answered
SELECT EXISTS (SELECT 1 FROM posts WHERE root = ? AND root <> '' AND gone = 0);

-- Tx.audit
INSERT INTO audit (at, who, action, kind, object, reason) VALUES (?, ?, ?, ?, ?, ?);

-- Tx.block
DELETE FROM invitations WHERE agent = $1
			AND circle IN (SELECT i.circle FROM invitations i JOIN circles c ON c.id = i.circle AND c.owner = $2 WHERE i.agent = $1);

-- Tx.block
INSERT INTO blocks (agent, other, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- Tx.blockedAmong
SELECT other FROM blocks WHERE agent = $1 AND other IN (SELECT value FROM json_each($2))
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent IN (SELECT value FROM json_each($2)) ORDER BY 1;

-- Tx.blockedAmong, for a list of one
SELECT other FROM blocks WHERE agent = $1 AND other = $2
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent = $2 ORDER BY 1;

-- Tx.checkActor
SELECT suspended_until, suspended_for, erased_agent FROM authors WHERE id = ?;

-- Tx.checkCircles
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, c.id, c.put,
		coalesce((SELECT m.at FROM members m WHERE m.circle = c.id AND m.agent = $2 AND m.gone = 0), 0) > $3
		FROM circles c WHERE c.id IN (SELECT value FROM json_each($1)) AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0);

-- Tx.checkCircles, for a list of one
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, c.id, c.put,
		coalesce((SELECT m.at FROM members m WHERE m.circle = c.id AND m.agent = $2 AND m.gone = 0), 0) > $3
		FROM circles c WHERE c.id = $1 AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0);

-- Tx.checkOwned
SELECT count(*) FROM circles WHERE owner = ? AND gone = 0;

-- Tx.circleTime
SELECT coalesce(max(at), 0) FROM members WHERE circle = ?;

-- Tx.circlesWithEither
SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = ? AND m.gone = 0
		WHERE c.owner = ? AND c.gone = 0;

-- Tx.close
INSERT INTO post_circles (post, circle, author, created_at, incarnation)
		SELECT p.id, '', p.author, p.created_at, 0 FROM posts p WHERE p.id IN (SELECT value FROM json_each(?)) ON CONFLICT DO NOTHING;

-- Tx.close, for a list of one
INSERT INTO post_circles (post, circle, author, created_at, incarnation)
		SELECT p.id, '', p.author, p.created_at, 0 FROM posts p WHERE p.id = ? ON CONFLICT DO NOTHING;

-- Tx.decideReports
UPDATE reported SET open = false, decision = $3, decided = $4 WHERE kind = $1 AND object = $2;

-- Tx.decideReports
UPDATE reported SET open = false, decision = $3, decided = $4 WHERE kind = $1 AND object = $2 AND open;

-- Tx.delete
SELECT count(*) FROM likes WHERE post = ? AND incarnation > ?;

-- Tx.delete
SELECT count(*), count(DISTINCT o.author) FROM posts o WHERE o.root = ? AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > ?;

-- Tx.dropCircle
DELETE FROM invitations WHERE circle = ?;

-- Tx.ended
INSERT INTO revived (post, author) VALUES (?, ?) ON CONFLICT (post) DO UPDATE SET author = excluded.author;

-- Tx.forgetModeration
DELETE FROM moderated WHERE post IN (SELECT value FROM json_each(?));

-- Tx.forgetModeration
DELETE FROM moderated_circles WHERE post IN (SELECT value FROM json_each(?));

-- Tx.forgetModeration, for a list of one
DELETE FROM moderated WHERE post = ?;

-- Tx.forgetModeration, for a list of one
DELETE FROM moderated_circles WHERE post = ?;

-- Tx.forgetRemovals
DELETE FROM removals WHERE post IN (SELECT value FROM json_each(?));

-- Tx.forgetRemovals
UPDATE posts SET removed = $2 WHERE id IN (SELECT value FROM json_each($1));

-- Tx.forgetRemovals, for a list of one
DELETE FROM removals WHERE post = ?;

-- Tx.forgetRemovals, for a list of one
UPDATE posts SET removed = $2 WHERE id = $1;

-- Tx.forgetReports
DELETE FROM reported WHERE kind = 'post' AND object IN (SELECT value FROM json_each(?));

-- Tx.forgetReports
DELETE FROM reports WHERE kind = 'post' AND object IN (SELECT value FROM json_each(?));

-- Tx.forgetReports
UPDATE audit SET reason = '' WHERE kind = 'post' AND object IN (SELECT value FROM json_each(?)) AND reason <> '';

-- Tx.forgetReports, for a list of one
DELETE FROM reported WHERE kind = 'post' AND object = ?;

-- Tx.forgetReports, for a list of one
DELETE FROM reports WHERE kind = 'post' AND object = ?;

-- Tx.forgetReports, for a list of one
UPDATE audit SET reason = '' WHERE kind = 'post' AND object = ? AND reason <> '';

-- Tx.giveUpFiles
UPDATE files SET state = ? WHERE post = ?;

-- Tx.grant
SELECT id, erased_agent FROM authors WHERE id IN (SELECT value FROM json_each(?)) AND erased_agent > 0;

-- Tx.grant, for a list of one
SELECT id, erased_agent FROM authors WHERE id = ? AND erased_agent > 0;

-- Tx.graph
SELECT e.agent, e.author, coalesce(f.at, 0), coalesce(f.gone, 1), (EXISTS (SELECT 1 FROM blocks b WHERE b.agent = e.agent AND b.other = e.author) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = e.author AND b.other = e.agent))
		FROM (SELECT value ->> 0 AS agent, value ->> 1 AS author FROM json_each(?) LIMIT -1) e LEFT JOIN follows f ON f.agent = e.agent AND f.author = e.author;

-- Tx.heir
SELECT m.agent FROM members m LEFT JOIN authors a ON a.id = m.agent
		WHERE m.circle = ? AND m.agent <> ? AND m.gone = 0 AND m.at > coalesce(a.erased_agent, 0)
		ORDER BY CASE WHEN m.joined > 0 THEN m.joined WHEN m.since > 1 THEN m.since ELSE m.at END, m.agent LIMIT 1;

-- Tx.hidePost
INSERT INTO moderated_circles (post, circle, author, created_at, incarnation, at, own)
				SELECT post, circle, author, created_at, incarnation, at, own FROM post_circles WHERE post = ?;

-- Tx.inMaxGroups
SELECT agent FROM members WHERE agent IN (SELECT value FROM json_each($1)) AND agent <> $3 AND gone = 0 AND since > 0
		GROUP BY agent HAVING count(*) >= $2 ORDER BY agent;

-- Tx.inMaxGroups, for a list of one
SELECT agent FROM members WHERE agent = $1 AND agent <> $3 AND gone = 0 AND since > 0
		GROUP BY agent HAVING count(*) >= $2 ORDER BY agent;

-- Tx.invite
INSERT INTO invitations (circle, agent, at) VALUES (?, ?, ?) ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at;

-- Tx.invite
SELECT (SELECT count(*) FROM invitations WHERE circle = $1), count(*), coalesce(sum(CASE WHEN c.owner = $3 THEN 1 ELSE 0 END), 0)
		FROM invitations i JOIN circles c ON c.id = i.circle WHERE i.agent = $2 AND (c.owner = $3 OR NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $2 AND mu.kind = 'inviter' AND mu.id = c.owner AND mu.until = 0)) AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)) AND (c.until = 0 OR c.until > $4);

-- Tx.jobOf
SELECT id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished, (state = 'running' AND (leased_till <= $1 OR changed > $1 + 1000000)) FROM jobs WHERE kind = $2 AND key = $3;

-- Tx.joined
DELETE FROM invitations WHERE circle = ? AND agent IN (SELECT value FROM json_each(?));

-- Tx.keepModerated
DELETE FROM moderated_circles WHERE post = ? AND circle <> '' AND NOT (circle IN (SELECT value FROM json_each(?)));

-- Tx.keepModerated
SELECT EXISTS (SELECT 1 FROM moderated WHERE post = ?);

-- Tx.keepModerated
UPDATE moderated SET reach = min(reach, $2) WHERE post = $1;

-- Tx.keepModerated, for a list of one
DELETE FROM moderated_circles WHERE post = ? AND circle <> '' AND NOT (circle = ?);

-- Tx.keepRemoved
SELECT rm.circle FROM removals rm LEFT JOIN circles c ON c.id = rm.circle WHERE rm.post = ? AND rm.incarnation > coalesce(c.dropped, 0);

-- Tx.likeOf
SELECT p.created, p.deleted, p.gone > 0, p.root <> '', coalesce(l.at, 0), coalesce(l.incarnation, 0), coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $2), 0)
		FROM posts p LEFT JOIN likes l ON l.post = p.id AND l.agent = $2 WHERE p.id = $1;

-- Tx.members
SELECT agent, at, gone, incarnation, since, joined FROM members WHERE circle = ? AND agent IN (SELECT value FROM json_each(?));

-- Tx.members, for a list of one
SELECT agent, at, gone, incarnation, since, joined FROM members WHERE circle = ? AND agent = ?;

-- Tx.mention
INSERT INTO post_mentions (post, agent, author, created_at, life)
		SELECT $1, j.value, $3, $4, coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) FROM (SELECT value AS value FROM json_each($2)) j WHERE true ON CONFLICT DO NOTHING;

-- Tx.mention
INSERT INTO post_mentions (post, agent, author, created_at, life)
		SELECT $1, j.value, $4, $5, CASE WHEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) = 0 OR coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) < $3 THEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) ELSE -1 END FROM (SELECT value AS value FROM json_each($2)) j WHERE true ON CONFLICT DO NOTHING;

-- Tx.mention
INSERT INTO reply_mentions (reply, agent, life) SELECT $1, j.value, CASE WHEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) = 0 OR coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) < $3 THEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0) ELSE -1 END
			FROM (SELECT value AS value FROM json_each($2)) j WHERE true ON CONFLICT DO NOTHING;

-- Tx.mention
INSERT INTO reply_mentions (reply, agent, life) SELECT ?, j.value, coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = j.value), 0)
			FROM (SELECT value AS value FROM json_each(?)) j WHERE true ON CONFLICT DO NOTHING;

-- Tx.mentionNobody
INSERT INTO reply_mentions (reply, agent, life) SELECT post, agent, life FROM post_mentions WHERE post = ? ON CONFLICT DO NOTHING;

-- Tx.moderatePost
INSERT INTO moderated (post, state, removed, reach) VALUES (?, ?, ?, ?) ON CONFLICT (post) DO UPDATE SET state = excluded.state;

-- Tx.moderatePost
INSERT INTO removals (post, circle, removed_by, agent, reason, at, incarnation) VALUES (?, '*', ?, '', ?, ?, 0)
			ON CONFLICT (post, circle) DO UPDATE SET removed_by = excluded.removed_by, reason = excluded.reason, at = excluded.at;

-- Tx.moderatePost
SELECT state, removed, reach FROM moderated WHERE post = ?;

-- Tx.mute
INSERT INTO mutes (agent, kind, id, until) VALUES (?, ?, ?, ?)
		ON CONFLICT (agent, kind, id) DO UPDATE SET until = excluded.until WHERE mutes.until <> excluded.until;

-- Tx.mute
SELECT count(*) FROM mutes WHERE agent = ? AND kind = ? AND id <> ?;

-- Tx.narrow
DELETE FROM post_circles WHERE post = ? AND circle <> '' AND NOT (circle IN (SELECT value FROM json_each(?)));

-- Tx.narrow
DELETE FROM post_mentions WHERE post = ? AND NOT (agent IN (SELECT value FROM json_each(?)));

-- Tx.narrow
DELETE FROM reply_mentions WHERE reply = ? AND NOT (agent IN (SELECT value FROM json_each(?)));

-- Tx.narrow
UPDATE post_circles SET created_at = $2 WHERE post = $1;

-- Tx.narrow, for a list of one
DELETE FROM post_circles WHERE post = ? AND circle <> '' AND NOT (circle = ?);

-- Tx.narrow, for a list of one
DELETE FROM post_mentions WHERE post = ? AND NOT (agent = ?);

-- Tx.narrow, for a list of one
DELETE FROM reply_mentions WHERE reply = ? AND NOT (agent = ?);

-- Tx.openCircle
SELECT coalesce(max(incarnation), 0) FROM post_circles WHERE circle = ?;

-- Tx.own
SELECT agent FROM invitations WHERE circle = ?;

-- Tx.own
SELECT erased_agent FROM authors WHERE id = ?;

-- Tx.own
UPDATE invitations SET at = $2 WHERE circle = $1 AND at < $2 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = invitations.agent), 0);

-- Tx.place
INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
		SELECT ?, d.circle, ?, ?, d.put, coalesce((SELECT nullif(c.posted, 0) FROM circles c WHERE c.id = d.circle), ?), d.own > 0
		FROM (SELECT value ->> 0 AS circle, value ->> 1 AS put, value ->> 2 AS own FROM json_each(?) LIMIT -1) d;

-- Tx.placeReported
INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
		SELECT $1, j.value, $3, $4, coalesce((SELECT 0 FROM circles c
			WHERE c.id = j.value AND c.gone = 0 AND NOT c.told AND c.owner <> $3), $5), $6,
			coalesce((SELECT c.owner = $3 AND c.kind = 'circle' AND c.gone = 0 AND c.dropped < $5 FROM circles c WHERE c.id = j.value), false)
		FROM (SELECT value AS value FROM json_each($2)) j;

-- Tx.placeReported
UPDATE circles SET reported = max(reported, $2) WHERE id IN (SELECT value FROM json_each($1)) AND gone = 0 AND (told OR owner = $3);

-- Tx.placeReported, for a list of one
UPDATE circles SET reported = max(reported, $2) WHERE id = $1 AND gone = 0 AND (told OR owner = $3);

-- Tx.present
SELECT agent FROM members WHERE circle = ? AND gone = 0;

-- Tx.published
SELECT coalesce(sum(size), 0) FROM circles WHERE id IN (SELECT value FROM json_each(?));

-- Tx.published, for a list of one
SELECT coalesce(sum(size), 0) FROM circles WHERE id = ?;

-- Tx.purgeAddresses
DELETE FROM post_circles WHERE post IN (SELECT value FROM json_each($2)) AND circle IN (SELECT x.circle FROM post_circles x JOIN circles c ON c.id = x.circle WHERE c.gone > 0 AND c.gone <= $1 AND c.size = 0 AND c.kind <> 'circle' AND NOT x.own AND x.post IN (SELECT value FROM json_each($2)));

-- Tx.purgeAddresses
SELECT x.post FROM post_circles x JOIN circles c ON c.id = x.circle WHERE c.gone > 0 AND c.gone <= ? AND c.size = 0 AND c.kind <> 'circle' AND NOT x.own LIMIT +?;

-- Tx.purgeAddresses, for a list of one
DELETE FROM post_circles WHERE post = $2 AND circle IN (SELECT x.circle FROM post_circles x JOIN circles c ON c.id = x.circle WHERE c.gone > 0 AND c.gone <= $1 AND c.size = 0 AND c.kind <> 'circle' AND NOT x.own AND x.post = $2);

-- Tx.purgeChanges
DELETE FROM changes WHERE (seq) IN (SELECT x.seq FROM changes x WHERE seq <= ? ORDER BY seq LIMIT +?);

-- Tx.purgeChanges
UPDATE changes_state SET trimmed = max(trimmed, ?) WHERE one AND ? > 0;

-- Tx.purgeNotifications
DELETE FROM notifications WHERE (agent, kind, object, actor, post) IN (SELECT x.agent, x.kind, x.object, x.actor, x.post FROM notifications x WHERE at <= ? ORDER BY at LIMIT +?);

-- Tx.purgePosts
SELECT id FROM posts p WHERE gone > 0 AND gone <= ?
		AND NOT EXISTS (SELECT 1 FROM revived v WHERE v.post = p.id) ORDER BY gone LIMIT +?;

-- Tx.purgeReports
DELETE FROM reported WHERE kind = ? AND object = ?;

-- Tx.purgeReports
DELETE FROM reports WHERE kind = ? AND object = ?;

-- Tx.purgeRevived
DELETE FROM likes WHERE post = $1 AND agent IN (SELECT l.agent FROM posts p JOIN likes l ON l.post = p.id
			WHERE p.id = $1 AND p.gone = 0 AND l.incarnation <= p.deleted LIMIT +$2);

-- Tx.purgeRevived
DELETE FROM revived WHERE post = ?;

-- Tx.purgeRevived
SELECT post FROM revived ORDER BY post LIMIT +?;

-- Tx.purgeSuggestions
DELETE FROM suggestions WHERE agent IN (SELECT value FROM json_each(?)) AND at <= ?;

-- Tx.purgeSuggestions
SELECT agent FROM suggestions WHERE at <= ? ORDER BY at LIMIT +?;

-- Tx.purgeSuggestions, for a list of one
DELETE FROM suggestions WHERE agent = ? AND at <= ?;

-- Tx.putCircle
UPDATE moderated_circles SET own = true WHERE author = ? AND circle = ? AND incarnation > ? AND NOT own;

-- Tx.putCircle
UPDATE post_circles SET own = true WHERE author = ? AND circle = ? AND incarnation > ? AND NOT own;

-- Tx.putExport
INSERT INTO exports (agent, name, state, parts, bytes, sent, asked, until, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- Tx.putExport
UPDATE exports SET state = $2, parts = $3, bytes = $4, sent = $5, until = $6, reason = $7 WHERE name = $1;

-- Tx.refuse
INSERT INTO refusals (agent, owner, circle, at) VALUES (?, ?, ?, ?) ON CONFLICT (agent, owner, circle) DO UPDATE SET at = excluded.at;

-- Tx.refuses
SELECT EXISTS (SELECT 1 FROM refusals WHERE agent = $1 AND owner = $2 AND circle IN ('', $3) AND at > $4
		AND at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN ($1, $2)));

-- Tx.remove
SELECT circle FROM removals WHERE post = ?;

-- Tx.removeFromGroups
DELETE FROM post_circles WHERE post = ? AND circle IN (SELECT value FROM json_each(?));

-- Tx.removeFromGroups, for a list of one
DELETE FROM post_circles WHERE post = ? AND circle = ?;

-- Tx.removing
SELECT author, reach, origin <> '' FROM posts WHERE id = ?;

-- Tx.renewChanges
INSERT INTO changes_state AS s (one, trimmed, epoch) VALUES (1, 0, lower(hex(randomblob(4))))
			ON CONFLICT (one) DO UPDATE SET trimmed = 0, epoch = excluded.epoch WHERE s.epoch = '';

-- Tx.resolveReported
SELECT coalesce(max(deleted), 0) FROM posts WHERE id IN (?, ?);

-- Tx.resolveRoot
SELECT id, created, reach, reply FROM posts
		WHERE id = (SELECT CASE WHEN o.root = '' THEN o.id ELSE o.root END FROM posts o WHERE o.id = ?);

-- Tx.restorePost
DELETE FROM removals WHERE post = ? AND circle = '*';

-- Tx.restorePost
INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
				SELECT post, circle, author, created_at, incarnation, at, own FROM moderated_circles WHERE post = ? ON CONFLICT DO NOTHING;

-- Tx.restorePost
INSERT INTO post_mentions (post, agent, author, created_at, life)
				SELECT m.reply, m.agent, $2, $3, m.life FROM reply_mentions m WHERE m.reply = $1 ON CONFLICT DO NOTHING;

-- Tx.restorePost
SELECT circle FROM moderated_circles WHERE post = ? AND circle <> '';

-- Tx.restorePost
SELECT followers FROM authors WHERE id = ?;

-- Tx.revived
DELETE FROM promotions WHERE item = ?;

-- Tx.save
INSERT INTO posts (id, author, created_at, reach, origin, reply, react, version, likes_here, likes_reported,
	comments_reported, created, deleted, caption_at, tags_at, alts_at, counted, here, gone, tags, grants, content, comments_here, repliers, root, root_life, removed, reply_at, arrived)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, CASE WHEN $30 > 0 THEN $29 ELSE 0 END);

-- Tx.save
UPDATE posts SET (author, created_at, reach, origin, reply, react, version, likes_here, likes_reported,
	comments_reported, created, deleted, caption_at, tags_at, alts_at, counted, here, gone, tags, grants, content, comments_here, repliers, root, root_life, removed, reply_at, arrived) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
			$23, $24, $25, $26, $27, $28, CASE WHEN $30 > 0 THEN $29 ELSE arrived END) WHERE id = $1;

-- Tx.saveCircle
INSERT INTO circles (id, owner, name, put, dropped, replaced, size, gone, kind, post, history, members_visible_to, until, told, joined, posted, reported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Tx.saveCircle
UPDATE circles SET (owner, name, put, dropped, replaced, size, gone, kind, post, history, members_visible_to, until, told, joined, posted, reported) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) WHERE id = $1;

-- Tx.saveGraph
INSERT INTO authors (id, followers, following)
			SELECT * FROM (SELECT value ->> 0 AS id, value ->> 1 AS followers, value ->> 2 AS following FROM json_each(?) LIMIT -1) d WHERE true
			ON CONFLICT (id) DO UPDATE SET followers = excluded.followers, following = excluded.following;

-- Tx.saveGraph
INSERT INTO follows (agent, author, at, gone)
			SELECT * FROM (SELECT value ->> 0 AS agent, value ->> 1 AS author, value ->> 2 AS at, value ->> 3 AS gone FROM json_each(?) LIMIT -1) d WHERE true
			ON CONFLICT (agent, author) DO UPDATE SET at = excluded.at, gone = excluded.gone;

-- Tx.setLike
DELETE FROM likes WHERE post = ? AND agent = ?;

-- Tx.setLike
INSERT INTO likes (post, agent, author, at, incarnation) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (post, agent) DO UPDATE SET author = excluded.author, at = excluded.at, incarnation = excluded.incarnation;

-- Tx.setLike
UPDATE posts SET likes_here = likes_here + $2 WHERE id = $1;

-- Tx.setMembers
INSERT INTO members (circle, agent, at, gone, incarnation, since, joined) SELECT ?, d.*
			FROM (SELECT value ->> 0 AS agent, value ->> 1 AS at, value ->> 2 AS gone, value ->> 3 AS incarnation, value ->> 4 AS since, value ->> 5 AS joined FROM json_each(?) LIMIT -1) d WHERE true
			ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone, incarnation = excluded.incarnation, since = excluded.since,
			joined = excluded.joined;

-- Tx.setRemoved
UPDATE moderated SET removed = max(removed, $2) WHERE post = $1;

-- Tx.suspend
INSERT INTO authors (id, suspended_until, suspended_for) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET suspended_until = excluded.suspended_until, suspended_for = excluded.suspended_for;

-- Tx.suspend
SELECT suspended_until, suspended_for FROM authors WHERE id = ?;

-- Tx.unblock
DELETE FROM blocks WHERE agent = ? AND other = ?;

-- Tx.untellPost
SELECT author FROM posts WHERE id IN (SELECT value FROM json_each(?));

-- Tx.untellPost, for a list of one
SELECT author FROM posts WHERE id = ?;

-- Tx.useFiles
DELETE FROM jobs WHERE kind = ? AND key = ?;

-- Tx.useKey
INSERT INTO post_keys AS k (author, key, post, print, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (author, key) DO UPDATE SET post = excluded.post, print = excluded.print, at = excluded.at WHERE k.at <= ?;

-- Tx.useKey
SELECT post, print, at FROM post_keys WHERE author = ? AND key = ?;

-- Tx.writeChange
INSERT INTO changes (at, type, agent, other, object, parent)
		VALUES (max(?, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN (?, ?)), 0)), ?, ?, ?, ?, ?);

-- Tx.writeChanges
INSERT INTO changes (at, type, agent, other, object, parent)
			SELECT max(?, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN (
				CASE WHEN d.type IN ('post.updated', 'post.deleted') THEN '' ELSE d.agent END, CASE WHEN d.object = '' THEN d.other ELSE '' END)), 0)), d.*
			FROM (SELECT value ->> 0 AS type, value ->> 1 AS agent, value ->> 2 AS other, value ->> 3 AS object, value ->> 4 AS parent FROM json_each(?) LIMIT -1) d WHERE true;

-- Tx.writeChanges
UPDATE changes_state SET epoch = '' WHERE one AND epoch <> '';

-- Tx.writeSpecs
INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
			lease, leased_generation, leased_till, finished, changed)
		SELECT d.kind, d.key, 1, d.priority, 'pending', $1 + d.wait, $1 + d.wait, 0, '', 0, 0, 0, 0, $1
		FROM (SELECT value ->> 0 AS kind, value ->> 1 AS key, value ->> 2 AS priority, value ->> 3 AS wait FROM json_each($2) LIMIT -1) d WHERE true
		ON CONFLICT (kind, key) DO UPDATE SET
			priority = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.priority ELSE min(j.priority, excluded.priority) END,
			due = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.due ELSE min(j.due, excluded.due) END,
			run_at = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.run_at ELSE min(j.run_at, excluded.run_at) END,
			state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
			generation = j.generation + 1, attempts = 0, error = '', finished = 0, changed = excluded.changed WHERE j.state NOT IN ('pending', 'failed');

-- Unerased
SELECT c.seq, c.at, c.type, c.agent, c.other, c.object, c.parent FROM changes c WHERE c.seq > CAST($1 AS INTEGER) AND c.seq <= CAST($2 AS INTEGER) AND c.seq > $5 AND c.type IN (SELECT value FROM json_each($3)) AND NOT EXISTS (SELECT 1 FROM authors a WHERE a.id IN (c.agent, c.other) AND a.erased >= c.at) ORDER BY c.seq LIMIT +$4;

-- Unerased
SELECT c.seq, c.at, c.type, c.agent, c.other, c.object, c.parent FROM changes c WHERE c.seq > CAST(? AS INTEGER) AND c.seq <= CAST(? AS INTEGER) AND c.type IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM authors a WHERE a.id IN (c.agent, c.other) AND a.erased >= c.at) ORDER BY c.seq LIMIT +?;

-- Unerased, for a list of one
SELECT c.seq, c.at, c.type, c.agent, c.other, c.object, c.parent FROM changes c WHERE c.seq > CAST($1 AS INTEGER) AND c.seq <= CAST($2 AS INTEGER) AND c.seq > $5 AND c.type = $3 AND NOT EXISTS (SELECT 1 FROM authors a WHERE a.id IN (c.agent, c.other) AND a.erased >= c.at) ORDER BY c.seq LIMIT +$4;

-- Unerased, for a list of one
SELECT c.seq, c.at, c.type, c.agent, c.other, c.object, c.parent FROM changes c WHERE c.seq > CAST(? AS INTEGER) AND c.seq <= CAST(? AS INTEGER) AND c.type = ? AND NOT EXISTS (SELECT 1 FROM authors a WHERE a.id IN (c.agent, c.other) AND a.erased >= c.at) ORDER BY c.seq LIMIT +?;

-- addressedText
SELECT count(DISTINCT j.post) FROM (
		SELECT * FROM (SELECT pc.post, pc.incarnation > c.dropped AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $2), 0)
			AS counts FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
			JOIN post_circles pc ON pc.circle = c.id AND pc.author = c.owner WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0 LIMIT 1000) by_circle
		UNION SELECT * FROM (SELECT pc.post, pc.incarnation > c.dropped AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0)
			AND (m.since <= 1 OR m.since < pc.at) AS counts FROM members m JOIN circles c ON c.id = m.circle AND c.gone = 0
			JOIN post_circles pc ON pc.author = $2 AND pc.circle = c.id WHERE m.agent = $1 AND m.gone = 0 AND m.since > 0 LIMIT 1000) by_group
		UNION SELECT * FROM (SELECT post, life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AS counts FROM post_mentions WHERE agent = $1 AND author = $2 ORDER BY created_at DESC, post DESC LIMIT 1000) by_mention
	) j WHERE (SELECT j.counts AND p.gone = 0 AND p.created > $3 AND p.reach < 2 AND NOT (p.reach = 1 AND $4) AND NOT (p.origin = '' AND $5)
		FROM posts p WHERE p.id = j.post);

-- affinitiesText
SELECT n.author, count(*) FROM (
		SELECT l.author AS author, l.at AS at, l.incarnation AS life FROM likes l WHERE l.agent = $1 AND l.at >= $2 AND l.author <> $1
		UNION ALL SELECT x.author, r.created, r.root_life FROM posts r JOIN posts x ON x.id = r.root AND x.deleted < r.root_life
			WHERE r.author = $1 AND r.reach IN ($5, $6) AND r.created_at >= $4 AND r.gone = 0 AND x.author <> $1
	) n LEFT JOIN authors a ON a.id = n.author
	WHERE n.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND n.life > coalesce(a.erased, 0)
	GROUP BY n.author ORDER BY count(*) DESC, n.author LIMIT +$3;

-- age
SELECT $1 - min($1, coalesce((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind <> 'export'), $1),
		coalesce((SELECT min(due) FROM jobs WHERE state = 'running' AND kind <> 'export'), $1)), $1 - min($1, coalesce((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind IN ('deliver', 'pair', 'member', 'author') AND priority < 300), $1),
		coalesce((SELECT min(due) FROM jobs WHERE state = 'running' AND kind IN ('deliver', 'pair', 'member', 'author') AND priority < 300), $1)), $1 - min($1, coalesce((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind IN ('deliver', 'pair', 'member', 'author') AND priority < 300 AND priority > 0), $1),
		coalesce((SELECT min(due) FROM jobs WHERE state = 'running' AND kind IN ('deliver', 'pair', 'member', 'author') AND priority < 300 AND priority > 0), $1));

-- agentCards
SELECT a.id, a.name, a.image_url, a.followers, a.following,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = a.id AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = a.id AND f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0) AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)),
	EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = a.id), EXISTS (SELECT 1 FROM blocks b WHERE b.agent = a.id AND b.other = $1) FROM authors a WHERE a.id IN (SELECT value FROM json_each($2));

-- agentCards, for a list of one
SELECT a.id, a.name, a.image_url, a.followers, a.following,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = a.id AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = a.id AND f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0) AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)),
	EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = a.id), EXISTS (SELECT 1 FROM blocks b WHERE b.agent = a.id AND b.other = $1) FROM authors a WHERE a.id = $2;

-- asking.authorsReading
SELECT j.value, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.erased, 0), coalesce(a.suspended_until, 0), coalesce(a.not_recommended, false),
			coalesce((SELECT f.at FROM follows f WHERE f.agent = $1 AND f.author = j.value AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)), 0),
			(EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = j.value) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = j.value AND b.other = $1))
			FROM (SELECT value AS value FROM json_each($2)) j LEFT JOIN authors a ON a.id = j.value;

-- asking.circlesReading
SELECT j.value, coalesce(c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0), false), coalesce(c.owner, ''), coalesce(c.name, ''),
			coalesce(c.kind = 'circle', true), coalesce(c.dropped, 0) FROM (SELECT value AS value FROM json_each(?)) j LEFT JOIN circles c ON c.id = j.value;

-- asking.likesReading
SELECT j.value, coalesce(l.incarnation, 0) FROM (SELECT value AS value FROM json_each($2)) j
			LEFT JOIN likes l ON l.post = j.value AND l.agent = $1 AND l.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0);

-- asking.ownReadings
SELECT EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND author = '@server' AND gone = 0 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0));

-- asking.ownReadings
SELECT m.circle, m.since, CASE WHEN m.since > 0 THEN coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = m.circle), -1) ELSE -1 END FROM members m WHERE m.agent = $1 AND m.gone = 0 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0);

-- asking.readPosts
SELECT p.id, p.author, p.origin, p.reach, p.reply, p.react, p.created, p.deleted, p.version, p.created_at, p.arrived,
		p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END, p.content, p.grants, p.root, p.root_life, 
		(SELECT json_group_array(CASE WHEN m.life = 0 THEN m.agent ELSE m.agent || ' ' || m.life END) FROM post_mentions m WHERE m.post = p.id),
		(SELECT json_group_array(pc.incarnation || ' ' || pc.at || ' ' || pc.circle) FROM post_circles pc WHERE pc.post = p.id), EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own), p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0)
		FROM posts p WHERE p.id IN (SELECT value FROM json_each(?)) AND p.gone = 0;

-- asking.readPosts, for a list of one
SELECT p.id, p.author, p.origin, p.reach, p.reply, p.react, p.created, p.deleted, p.version, p.created_at, p.arrived,
		p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END, p.content, p.grants, p.root, p.root_life, 
		(SELECT json_group_array(CASE WHEN m.life = 0 THEN m.agent ELSE m.agent || ' ' || m.life END) FROM post_mentions m WHERE m.post = p.id),
		(SELECT json_group_array(pc.incarnation || ' ' || pc.at || ' ' || pc.circle) FROM post_circles pc WHERE pc.post = p.id), EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own), p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0)
		FROM posts p WHERE p.id = ? AND p.gone = 0;

-- byAuthor
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_circles q WHERE q.circle = k.key AND q.author = @author
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped
		AND q.created_at >= m.since / 1000000 - c.lag AND (m.since <= 1 OR m.since < q.at)
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC;

-- cardFrom
SELECT p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '@server' AND f.gone = 0
		AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	(SELECT json_group_array(CASE WHEN (m.since <= 1 OR m.since < pc.at) THEN CASE WHEN mu.id <> '' THEN '~' || mu.until || ' ' ELSE '+' END ELSE '-' END || CASE WHEN c.kind = 'circle' AND c.owner <> $1 THEN '' WHEN c.owner = $1 OR m.at > 0 THEN c.id || ' ' || c.name ELSE c.id || ' ' END) FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	LEFT JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)
	LEFT JOIN mutes mu ON mu.agent = $1 AND mu.kind = 'circle' AND mu.id = pc.circle AND m.since > 0
	WHERE pc.post = p.id AND (m.at > 0 OR pc.author = $1)),
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	EXISTS (SELECT 1 FROM json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g WHERE g.value = CASE WHEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) = 0 THEN $1 ELSE $1 || ' ' || coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) END),
	(EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1)),
	p.reach < 2 AND (p.grants <> '' OR EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id)),
	p.reach = 0 AND p.author = $1 AND EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own),
	p.deleted, p.root, p.root_life, p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0), j.i - 1, p.version, p.created_at, p.arrived, p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END,
		CASE WHEN p.version <> j.version THEN p.content END, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.suspended_until, 0), coalesce(a.not_recommended, false),
		EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = $1 AND l.incarnation > p.deleted AND l.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
		p.grants <> '' FROM (SELECT value ->> 0 AS id, value ->> 1 AS version, key + 1 AS i FROM json_each($2) LIMIT -1) j CROSS JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author WHERE p.gone = 0;

-- cardText
SELECT id, name, image_url, bio, suggest_from_follows, not_recommended, suspended_until / 1000000, suspended_for FROM authors
	WHERE id = ? AND (has_card OR suspended_until > 0 OR not_recommended OR suggest_from_follows <> 0);

-- cardsOfText
SELECT p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = j.reader AND f.author = p.author AND f.gone = 0 AND f.at > coalesce(r.erased_agent, 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = j.reader AND f.author = '@server' AND f.gone = 0
		AND f.at > coalesce(r.erased_agent, 0)),
	(SELECT json_group_array(CASE WHEN (m.since <= 1 OR m.since < pc.at) THEN CASE WHEN mu.id <> '' THEN '~' || mu.until || ' ' ELSE '+' END ELSE '-' END || CASE WHEN c.kind = 'circle' AND c.owner <> j.reader THEN '' WHEN c.owner = j.reader OR m.at > 0 THEN c.id || ' ' || c.name ELSE c.id || ' ' END) FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	LEFT JOIN members m ON m.circle = pc.circle AND m.agent = j.reader AND m.gone = 0 AND m.at > coalesce(r.erased_agent, 0)
	LEFT JOIN mutes mu ON mu.agent = j.reader AND mu.kind = 'circle' AND mu.id = pc.circle AND m.since > 0
	WHERE pc.post = p.id AND (m.at > 0 OR pc.author = j.reader)),
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = j.reader AND m.life = coalesce(r.erased_agent, 0)),
	EXISTS (SELECT 1 FROM json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g WHERE g.value = CASE WHEN coalesce(r.erased_agent, 0) = 0 THEN j.reader ELSE j.reader || ' ' || coalesce(r.erased_agent, 0) END),
	(EXISTS (SELECT 1 FROM blocks b WHERE b.agent = j.reader AND b.other = p.author) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = j.reader)),
	p.reach < 2 AND (p.grants <> '' OR EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id)),
	p.reach = 0 AND p.author = j.reader AND EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own),
	p.deleted, p.root, p.root_life, p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0), j.i - 1, p.version, p.created_at, p.arrived, p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END,
	CASE WHEN p.comments_here > 0 THEN p.repliers - CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END ELSE p.comments_reported END,
		CASE WHEN p.version <> 0 THEN p.content END, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.suspended_until, 0), coalesce(a.not_recommended, false),
		EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = j.reader AND l.incarnation > p.deleted AND l.at > coalesce(r.erased_agent, 0)),
		p.grants <> '' FROM (SELECT value ->> 0 AS reader, value ->> 1 AS id, key + 1 AS i FROM json_each(?) LIMIT -1) j LEFT JOIN authors r ON r.id = j.reader JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author WHERE p.gone = 0;

-- celebrities
SELECT agent, author FROM follows WHERE agent = $1 AND author = '@server' AND gone = 0
	UNION ALL SELECT f.agent, f.author FROM authors a JOIN follows f ON f.author = a.id
		WHERE a.delivery <> 'push' AND f.agent = $1 AND f.gone = 0
	UNION ALL SELECT k.agent, '*' FROM (SELECT $1 AS agent) k
		JOIN jobs j ON j.kind = 'pair' AND j.key = '*/' || k.agent AND j.state IN ('pending', 'failed', 'running')
	ORDER BY 2;

-- celebrities
SELECT agent, author FROM follows WHERE agent IN (SELECT value FROM json_each($1)) AND author = '@server' AND gone = 0
	UNION ALL SELECT f.agent, f.author FROM authors a JOIN follows f ON f.author = a.id
		WHERE a.delivery <> 'push' AND f.agent IN (SELECT value FROM json_each($1)) AND f.gone = 0
	UNION ALL SELECT k.agent, '*' FROM (SELECT value AS agent FROM json_each($1)) k CROSS JOIN jobs j ON j.kind = 'pair' AND j.key = '*/' || k.agent AND j.state IN ('pending', 'failed', 'running')
	ORDER BY 2;

-- circles
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_circles q WHERE q.circle = k.key
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped
		AND q.created_at >= m.since / 1000000 - c.lag AND (m.since <= 1 OR m.since < q.at)
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC;

-- circles
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0 AND NOT (m.since > 0 AND EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = @reader AND mu.kind = 'circle' AND mu.id = m.circle AND mu.until = 0))
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_circles q WHERE q.circle = k.key
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped
		AND q.created_at >= m.since / 1000000 - c.lag AND (m.since <= 1 OR m.since < q.at)
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC;

-- circlesAs
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, c.id, coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = c.id), -1) FROM circles c WHERE c.owner = $1 AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND c.id > $2 ORDER BY c.id LIMIT +$3;

-- circlesAs
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, c.id, coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = c.id), -1) FROM invitations i JOIN circles c ON c.id = i.circle WHERE i.agent = $1 AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)) AND (c.until = 0 OR c.until > $4) AND NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'inviter' AND mu.id = c.owner AND mu.until = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = c.owner) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = c.owner AND b.other = $1) AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND c.id > $2 ORDER BY c.id LIMIT +$3;

-- circlesAs
SELECT c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until, c.id, coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = c.id), -1) FROM members m JOIN circles c ON c.id = m.circle AND c.owner <> $1
		WHERE m.agent = $1 AND m.gone = 0 AND m.since > 0 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = c.owner) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = c.owner AND b.other = $1) AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND c.id > $2 ORDER BY c.id LIMIT +$3;

-- circlesBy
SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
	WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0
	UNION ALL SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND since > 0;

-- circlesBy
SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
	WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0
	UNION ALL SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND since > 0 AND NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = members.circle AND mu.until = 0);

-- countText
SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'failed') GROUP BY kind, state
		UNION ALL SELECT kind, 'running', count(*) FROM jobs WHERE state = 'running' GROUP BY kind
		UNION ALL SELECT kind, 'dead', count(*) FROM jobs WHERE state = 'dead' GROUP BY kind;

-- dialect
DELETE FROM jobs WHERE id = ? AND lease = ? AND state = 'running' AND generation = leased_generation;

-- dialect
SELECT id FROM jobs INDEXED BY jobs_by_due WHERE state IN ('pending', 'failed') AND (run_at <= $1 OR changed > $1 + 1000000) AND ($2 = '[]' OR kind IN (SELECT value FROM json_each($2))) AND due <= $1 - $3 ORDER BY due, id LIMIT +$4;

-- dialect
SELECT id FROM jobs INDEXED BY jobs_by_priority WHERE state IN ('pending', 'failed') AND (run_at <= $1 OR changed > $1 + 1000000) AND ($2 = '[]' OR kind IN (SELECT value FROM json_each($2)))
			AND id NOT IN (SELECT value FROM json_each($3)) ORDER BY priority, due, id LIMIT +$4;

-- dialect, for a list of one
SELECT id FROM jobs INDEXED BY jobs_by_due WHERE state IN ('pending', 'failed') AND (run_at <= $1 OR changed > $1 + 1000000) AND ($2 = '[]' OR kind = $2) AND due <= $1 - $3 ORDER BY due, id LIMIT +$4;

-- dropUnreported
DELETE FROM reported WHERE kind = $1 AND object = $2
	AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.kind = $1 AND r.object = $2);

-- dueText
SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('pending', 'failed') AND (run_at <= $1 OR changed > $1 + 1000000) AND ($2 = '[]' OR kind IN (SELECT value FROM json_each($2)))) OR EXISTS (SELECT 1 FROM jobs WHERE (state = 'running' AND (leased_till <= $1 OR changed > $1 + 1000000)));

-- dueText, for a list of one
SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('pending', 'failed') AND (run_at <= $1 OR changed > $1 + 1000000) AND ($2 = '[]' OR kind = $2)) OR EXISTS (SELECT 1 FROM jobs WHERE (state = 'running' AND (leased_till <= $1 OR changed > $1 + 1000000)));

-- endExport
UPDATE exports SET agent = '', state = 'ended' WHERE agent = ? AND agent <> '';

-- enqueueText
INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
			lease, leased_generation, leased_till, finished, changed)
		SELECT d.kind, d.key, 1, d.priority, 'pending', $1 + d.wait, $1 + d.wait, 0, '', 0, 0, 0, 0, $1
		FROM (SELECT value ->> 0 AS kind, value ->> 1 AS key, value ->> 2 AS priority, value ->> 3 AS wait FROM json_each($2) LIMIT -1) d WHERE true
		ON CONFLICT (kind, key) DO UPDATE SET
			priority = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.priority ELSE min(j.priority, excluded.priority) END,
			due = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.due ELSE min(j.due, excluded.due) END,
			run_at = CASE WHEN (j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation) THEN excluded.run_at ELSE min(j.run_at, excluded.run_at) END,
			state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
			generation = j.generation + 1, attempts = 0, error = '', finished = 0, changed = excluded.changed;

-- eraseText
INSERT INTO authors (id, card_at, erased, erased_agent, erasing) VALUES ($1, $2, $2, $3, $4)
	ON CONFLICT (id) DO UPDATE SET name = '', image_url = '', bio = '', card_at = excluded.card_at, has_card = false, suggest_from_follows = 0, not_recommended = false, erased = excluded.erased,
	erased_agent = max(authors.erased_agent, excluded.erased_agent), erasing = max(authors.erasing, excluded.erasing);

-- eraseTime
SELECT max($2,
	coalesce((SELECT max(created) + 1 FROM posts WHERE author = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM follows WHERE author = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM follows WHERE agent = $1), 0),
	coalesce((SELECT max(card_at, erased) + 1 FROM authors WHERE id = $1), 0),
	coalesce((SELECT max(at) + 1 FROM members WHERE agent = $1 AND gone = 0), 0),
	coalesce((SELECT max(max(put, replaced)) + 1 FROM circles WHERE owner = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM invitations WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM refusals WHERE agent = $1 OR owner = $1), 0),
	coalesce((SELECT max(at) + 1 FROM likes WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM blocks WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM post_keys WHERE author = $1), 0),
	coalesce((SELECT max(at) + 1 FROM reports WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM reports WHERE kind = 'author' AND object = $1), 0),
	coalesce((SELECT max(at) + 1 FROM changes WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM changes WHERE other = $1 AND other <> ''), 0),
	coalesce((SELECT max(at) + 1 FROM notifications WHERE actor = $1), 0),
	coalesce((SELECT max(at) + 1 FROM notifications WHERE agent = $1), 0));

-- erasedReader
SELECT coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = ?), 0);

-- eraser.changes
DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c WHERE c.agent = ? AND c.at <= ? LIMIT +?);

-- eraser.changes
DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c WHERE c.other = ? AND c.other <> '' AND c.at <= ? LIMIT +?);

-- eraser.circles
SELECT id FROM circles WHERE owner = ? AND gone = 0 AND put <= ? LIMIT +?;

-- eraser.comments
SELECT id FROM posts WHERE author = ? AND gone = 0 AND created <= ? AND reach > 2 LIMIT +?;

-- eraser.followers
SELECT EXISTS (SELECT 1 FROM posts WHERE author = ? AND gone = 0);

-- eraser.followers
SELECT agent FROM follows WHERE author = ? AND gone = 0 AND at <= ? AND agent IN (SELECT value FROM json_each(?));

-- eraser.followers, for a list of one
SELECT agent FROM follows WHERE author = ? AND gone = 0 AND at <= ? AND agent = ?;

-- eraser.following
SELECT author FROM follows WHERE agent = ? AND gone = 0 AND at <= ? LIMIT +?;

-- eraser.invitations
DELETE FROM invitations WHERE agent = ? AND at <= ?;

-- eraser.keys
DELETE FROM post_keys WHERE author = ? AND key IN (SELECT value FROM json_each(?));

-- eraser.keys
SELECT key FROM post_keys WHERE author = ? AND at <= ? LIMIT +?;

-- eraser.keys, for a list of one
DELETE FROM post_keys WHERE author = ? AND key = ?;

-- eraser.leaving
SELECT agent FROM follows WHERE author = ? AND gone = 0 AND at <= ? LIMIT +?;

-- eraser.leaving
SELECT delivery FROM authors WHERE id = ?;

-- eraser.likes
DELETE FROM likes WHERE agent = ? AND post IN (SELECT value FROM json_each(?));

-- eraser.likes
SELECT post FROM likes WHERE agent = ? AND at <= ? LIMIT +?;

-- eraser.likes
UPDATE posts SET likes_here = likes_here - 1 WHERE id IN (SELECT value FROM json_each($2))
		AND EXISTS (SELECT 1 FROM likes l WHERE l.post = posts.id AND l.agent = $1 AND (posts.gone > 0 OR l.incarnation > posts.deleted));

-- eraser.likes, for a list of one
DELETE FROM likes WHERE agent = ? AND post = ?;

-- eraser.likes, for a list of one
UPDATE posts SET likes_here = likes_here - 1 WHERE id = $2
		AND EXISTS (SELECT 1 FROM likes l WHERE l.post = posts.id AND l.agent = $1 AND (posts.gone > 0 OR l.incarnation > posts.deleted));

-- eraser.memberships
SELECT circle FROM members WHERE agent = ? AND gone = 0 AND at <= ? LIMIT +?;

-- eraser.mentions
DELETE FROM post_mentions WHERE agent = ? AND post IN (SELECT value FROM json_each(?));

-- eraser.mentions
DELETE FROM reply_mentions WHERE agent = ? AND reply IN (SELECT value FROM json_each(?));

-- eraser.mentions
SELECT post FROM post_mentions WHERE agent = $1 AND life < $2
		UNION ALL SELECT reply FROM reply_mentions WHERE agent = $1 AND life < $2 LIMIT +$3;

-- eraser.mentions, for a list of one
DELETE FROM post_mentions WHERE agent = ? AND post = ?;

-- eraser.mentions, for a list of one
DELETE FROM reply_mentions WHERE agent = ? AND reply = ?;

-- eraser.notifications
DELETE FROM inboxes WHERE agent = $1 AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.agent = $1);

-- eraser.notifications
DELETE FROM notifications WHERE (agent, kind, object, actor, post) IN (SELECT x.agent, x.kind, x.object, x.actor, x.post FROM notifications x WHERE x.actor = ? AND x.at <= ? LIMIT +?);

-- eraser.notifications
DELETE FROM notifications WHERE (agent, kind, object, actor, post) IN (SELECT x.agent, x.kind, x.object, x.actor, x.post FROM notifications x WHERE x.agent = ? AND (x.at <= ? OR x.kind IN ('like', 'reply')
		AND EXISTS (SELECT 1 FROM posts p WHERE p.id = x.object AND p.gone > 0)) LIMIT +?);

-- eraser.posts
SELECT id FROM posts WHERE author = ? AND gone = 0 AND created <= ? AND reach <= 2 LIMIT +?;

-- eraser.refusals
DELETE FROM refusals WHERE agent = ? AND at <= ?;

-- eraser.refusals
DELETE FROM refusals WHERE owner = ? AND at <= ? AND agent IN (SELECT value FROM json_each(?));

-- eraser.refusals
SELECT agent FROM refusals WHERE owner = ? AND at <= ? LIMIT +?;

-- eraser.refusals, for a list of one
DELETE FROM refusals WHERE owner = ? AND at <= ? AND agent = ?;

-- eraser.replies
SELECT v.post FROM revived v WHERE v.author = ? AND (SELECT p.deleted >= ?
		AND EXISTS (SELECT 1 FROM posts r WHERE r.root = v.post AND r.root <> '' AND r.gone = 0 AND r.root_life <= p.deleted) FROM posts p WHERE p.id = v.post) LIMIT +?;

-- eraser.reports
DELETE FROM reports WHERE kind = 'author' AND object = ? AND at <= ?;

-- eraser.reports
DELETE FROM reports WHERE kind = ? AND object = ? AND agent = ?;

-- eraser.reports
SELECT kind, object FROM reports WHERE agent = ? AND at <= ? LIMIT +?;

-- eraser.run
UPDATE authors SET erasing = 0 WHERE id = ? AND erased = ? AND erased_agent = ? AND erasing = ?;

-- eraser.suggestions
DELETE FROM suggestions WHERE agent = ?;

-- expireText
UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END, changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END,
		finished = CASE WHEN attempts >= $2 THEN $1 ELSE 0 END, error = 'its lease ran out', leased_till = 0
		WHERE (id) IN (SELECT x.id FROM jobs x WHERE (state = 'running' AND (leased_till <= $1 OR changed > $1 + 1000000)));

-- exportImages
SELECT f.key, f.post FROM posts p JOIN files f ON f.post = p.id WHERE p.author = $1 AND p.gone = 0
					AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0) AND f.state = $4 AND f.key > $2 ORDER BY f.key LIMIT +$3;

-- exportMentions
SELECT m.post FROM (SELECT post, agent, life FROM post_mentions UNION ALL SELECT reply, agent, life FROM reply_mentions) m
				WHERE m.agent = $1 AND m.post > $2 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) ORDER BY m.post LIMIT +$3;

-- factColumns
SELECT p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '@server' AND f.gone = 0
		AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	(SELECT json_group_array(CASE WHEN (m.since <= 1 OR m.since < pc.at) THEN CASE WHEN mu.id <> '' THEN '~' || mu.until || ' ' ELSE '+' END ELSE '-' END || CASE WHEN c.kind = 'circle' AND c.owner <> $1 THEN '' WHEN c.owner = $1 OR m.at > 0 THEN c.id || ' ' || c.name ELSE c.id || ' ' END) FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	LEFT JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)
	LEFT JOIN mutes mu ON mu.agent = $1 AND mu.kind = 'circle' AND mu.id = pc.circle AND m.since > 0
	WHERE pc.post = p.id AND (m.at > 0 OR pc.author = $1)),
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	EXISTS (SELECT 1 FROM json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g WHERE g.value = CASE WHEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) = 0 THEN $1 ELSE $1 || ' ' || coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) END),
	(EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1)),
	p.reach < 2 AND (p.grants <> '' OR EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id)),
	p.reach = 0 AND p.author = $1 AND EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own),
	p.deleted, p.root, p.root_life, p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0) FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id = $2;

-- failText
WITH held AS MATERIALIZED (SELECT j.id FROM (SELECT value ->> 0 AS id, value ->> 1 AS lease FROM json_each($2) LIMIT -1) h CROSS JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
	ORDER BY j.kind, j.key)
		UPDATE jobs SET leased_till = 0, changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN $1 + $5 ELSE CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN max(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN $1 ELSE 0 END,
		error = $6 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state;

-- firstChangeText
SELECT x.at FROM changes x WHERE x.at <= ? ORDER BY x.seq LIMIT 1;

-- followedInLists
SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
		WHERE f.agent = ? AND f.gone = 0 AND (a.delivery IS NULL OR a.delivery <> 'pull');

-- followedText
SELECT author FROM follows WHERE agent = ? AND gone = 0;

-- friends
SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author LEFT JOIN post_counts c ON c.author = f.author
	WHERE f.agent = $1 AND f.at <= $2 AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)
	AND (SELECT b.at <= $2 AND b.at > coalesce(a.erased_agent, 0) AND b.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)
		FROM follows b WHERE b.agent = f.author AND b.author = $1 AND b.gone = 0)
	AND (coalesce(a.suggest_from_follows, 0) = 1 OR coalesce(a.suggest_from_follows, 0) = 0 AND coalesce(c.public > 0 OR c.followers + c.own = 0, true))
	AND f.author > $3 ORDER BY f.author LIMIT +$4;

-- insertRemoval
INSERT INTO removals AS k (post, circle, removed_by, agent, reason, at, incarnation)
	VALUES ($1, $2, $3, $4, $5, $6, coalesce((SELECT c.put FROM circles c WHERE c.id = $2), 0))
	ON CONFLICT (post, circle) DO UPDATE SET removed_by = excluded.removed_by, agent = excluded.agent, reason = excluded.reason, at = excluded.at,
		incarnation = excluded.incarnation
	WHERE k.incarnation < coalesce((SELECT c.dropped FROM circles c WHERE c.id = k.circle), 0);

-- kinds
DELETE FROM blocks WHERE agent = ?;

-- kinds
DELETE FROM mutes WHERE agent = ?;

-- kinds
SELECT i.circle, c.name, c.owner, i.at / 1000000 FROM invitations i JOIN circles c ON c.id = i.circle
			WHERE i.agent = ? AND i.circle > ? AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)) ORDER BY i.circle LIMIT +?;

-- kinds
SELECT key, post, at / 1000000 FROM post_keys WHERE author = $1 AND key > $2 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) ORDER BY key LIMIT +$3;

-- kinds
SELECT kind || ' ' || id, kind, id, until / 1000000 FROM mutes
			WHERE agent = ? AND kind || ' ' || id > ? ORDER BY 1 LIMIT +?;

-- kinds
SELECT kind || ' ' || object, kind, object, reason, details, at / 1000000 FROM reports
			WHERE agent = $1 AND kind || ' ' || object > $2 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) ORDER BY 1 LIMIT +$3;

-- kinds
SELECT other, at / 1000000 FROM blocks WHERE agent = ? AND other > ? ORDER BY other LIMIT +?;

-- kinds
SELECT owner || ' ' || circle, owner, circle, at / 1000000 FROM refusals
			WHERE agent = $1 AND owner || ' ' || circle > $2 AND at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) ORDER BY 1 LIMIT +$3;

-- kinds
SELECT post || ' ' || circle, post, circle, reason, at / 1000000 FROM removals
			WHERE agent = ? AND agent <> '' AND post || ' ' || circle > ? ORDER BY 1 LIMIT +?;

-- kinds
UPDATE audit SET object = '', reason = '' WHERE kind = 'author' AND object = ?;

-- kinds
UPDATE authors SET suspended_for = '' WHERE id = ? AND suspended_for <> '';

-- kinds
UPDATE removals SET agent = '', reason = '' WHERE agent = ? AND agent <> '';

-- lastOfChangesText
SELECT coalesce(max(x.seq), 0) FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT +?) x;

-- lateText
SELECT p.author, p.created_at, p.id, p.arrived FROM posts p WHERE p.gone = 0 AND p.root = ''
	AND p.created_at < p.arrived / 1000000 - 60 AND p.created_at >= p.arrived / 1000000 - 86400
	AND p.arrived > $2 AND p.arrived <= $1 - 1000000 ORDER BY p.arrived DESC, p.id DESC LIMIT +$3;

-- mentions
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k LEFT JOIN authors e ON e.id = k.key
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_mentions q WHERE q.agent = k.key
		AND q.life = coalesce(e.erased_agent, 0) AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- mentions
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k LEFT JOIN authors e ON e.id = k.key
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_mentions q WHERE q.agent = k.key AND q.author = @author
		AND q.life = coalesce(e.erased_agent, 0) AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- muteEnd
SELECT coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = ? AND mu.kind = 'circle' AND mu.id = ?), -1);

-- newestAuthors
SELECT n.author, coalesce((SELECT p.id FROM posts p WHERE p.author = n.author AND p.reach = 2 AND p.gone = 0
		ORDER BY p.created_at DESC, p.id DESC LIMIT 1), '') FROM public_authors n
	WHERE n.author <> $1 AND NOT n.author IN (SELECT value FROM json_each($2))
	AND (SELECT f.gone FROM follows f WHERE f.agent = $1 AND f.author = n.author AND f.gone = 0) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = $1 AND b.other = n.author) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = n.author AND b.other = $1) IS NULL
	AND coalesce((SELECT a.erasing + CASE WHEN a.suspended_until > $4 OR a.not_recommended THEN 1 ELSE 0 END FROM authors a WHERE a.id = n.author), 0) = 0
	ORDER BY n.since DESC, n.author LIMIT +$3;

-- newestAuthors, for a list of one
SELECT n.author, coalesce((SELECT p.id FROM posts p WHERE p.author = n.author AND p.reach = 2 AND p.gone = 0
		ORDER BY p.created_at DESC, p.id DESC LIMIT 1), '') FROM public_authors n
	WHERE n.author <> $1 AND NOT n.author = $2
	AND (SELECT f.gone FROM follows f WHERE f.agent = $1 AND f.author = n.author AND f.gone = 0) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = $1 AND b.other = n.author) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = n.author AND b.other = $1) IS NULL
	AND coalesce((SELECT a.erasing + CASE WHEN a.suspended_until > $4 OR a.not_recommended THEN 1 ELSE 0 END FROM authors a WHERE a.id = n.author), 0) = 0
	ORDER BY n.since DESC, n.author LIMIT +$3;

-- notifyText
INSERT INTO notifications AS n (agent, kind, object, actor, post, number, at)
	SELECT d.agent, d.kind, d.object, d.actor, d.post, (SELECT i.number FROM inboxes i WHERE i.agent = d.agent), max($1, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN (d.agent, d.actor)), 0))
	FROM (SELECT value ->> 0 AS agent, value ->> 1 AS kind, value ->> 2 AS object, value ->> 3 AS actor, value ->> 4 AS post FROM json_each($3) LIMIT -1) d WHERE true
	ON CONFLICT (agent, kind, object, actor, post) DO UPDATE SET number = excluded.number, at = excluded.at
	WHERE n.at <= $2 OR n.at <= (SELECT max(e.erased) FROM authors e WHERE e.id IN (n.agent, n.actor));

-- ofReach
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN (SELECT value AS reach FROM json_each('[1, 2]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- ofReach
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN (SELECT value AS reach FROM json_each('[1]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- ofReach
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN (SELECT value AS reach FROM json_each('[2]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- oldChangesText
SELECT count(CASE WHEN x.at <= $3 THEN 1 END), coalesce(max(CASE WHEN x.at <= $2
			AND x.seq < coalesce((SELECT min(y.seq) FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT +$1) y WHERE y.at > $2 AND y.at <= $3), x.seq + 1) THEN x.seq END), 0)
		FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT +$1) x;

-- oldReportsText
SELECT k.kind, k.object FROM reported k WHERE k.open = (0 < 0) AND k.latest <= ? AND k.decided > 0 AND k.decided <= ?
	ORDER BY k.latest LIMIT +?;

-- openInboxes
INSERT INTO inboxes AS i (agent, number, seen) SELECT d.agent, 1, 0 FROM (SELECT value AS agent FROM json_each(?)) d WHERE true ORDER BY d.agent
	ON CONFLICT (agent) DO UPDATE SET number = i.number + 1;

-- overPromotions
SELECT id FROM promotions WHERE ends <= ? ORDER BY ends LIMIT +?;

-- overReplies
SELECT r.id FROM posts r WHERE r.root = $1 AND r.root <> '' AND r.gone = 0
	AND r.root_life <= coalesce((SELECT p.deleted FROM posts p WHERE p.id = $1), r.root_life) LIMIT +$2;

-- ownedGroups
SELECT id FROM circles WHERE owner = ? AND gone = 0 AND kind <> 'circle' ORDER BY id;

-- passedInvitations
UPDATE notifications SET actor = $2, at = max(at, (SELECT coalesce(max(a.erased), 0) + 1 FROM authors a WHERE a.id = $2))
		WHERE agent IN (SELECT value FROM json_each($3)) AND kind = 'invitation' AND object = $1;

-- passedInvitations, for a list of one
UPDATE notifications SET actor = $2, at = max(at, (SELECT coalesce(max(a.erased), 0) + 1 FROM authors a WHERE a.id = $2))
		WHERE agent = $3 AND kind = 'invitation' AND object = $1;

-- placeText
UPDATE circles SET posted = max(posted, joined + 1, $2),
	lag = max(lag, max(posted, joined + 1, $2) / 1000000 - $3) WHERE id IN (SELECT value FROM json_each($1));

-- placeText, for a list of one
UPDATE circles SET posted = max(posted, joined + 1, $2),
	lag = max(lag, max(posted, joined + 1, $2) / 1000000 - $3) WHERE id = $1;

-- postPurges
DELETE FROM likes WHERE post IN (SELECT value FROM json_each(?));

-- postPurges
DELETE FROM post_circles WHERE post IN (SELECT value FROM json_each(?));

-- postPurges
DELETE FROM post_mentions WHERE post IN (SELECT value FROM json_each(?));

-- postPurges
DELETE FROM posts WHERE id IN (SELECT value FROM json_each(?));

-- postPurges
DELETE FROM reply_mentions WHERE reply IN (SELECT value FROM json_each(?));

-- postPurges, for a list of one
DELETE FROM likes WHERE post = ?;

-- postPurges, for a list of one
DELETE FROM posts WHERE id = ?;

-- postsToModerate
SELECT p.id FROM posts p JOIN moderated m ON m.post = p.id WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND m.state = ? ORDER BY p.created_at DESC, p.id DESC LIMIT +?;

-- postsToModerate
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND (p.created_at, p.id) < (?, ?) AND p.author = ? ORDER BY p.created_at DESC, p.id DESC LIMIT +?;

-- postsToModerate
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND p.id >= 'post:0' AND p.id < 'post:1' AND p.created_at < ? AND p.id < ? ORDER BY p.id DESC LIMIT +?;

-- postsToModerate
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND p.id >= 'post:0' AND p.id < 'post:1' AND p.created_at >= ? AND p.id >= ? ORDER BY p.id DESC LIMIT +?;

-- postsToModerate
SELECT p.id FROM reported k JOIN posts p ON p.id = k.object WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND k.kind = 'post' ORDER BY p.created_at DESC, p.id DESC LIMIT +?;

-- promotionColumns
SELECT id, item, starts, ends, weight, tags, langs FROM promotions WHERE id = ?;

-- publicText
SELECT id, gone = 0 AND reach = 2 FROM posts WHERE id > ? ORDER BY id LIMIT +?;

-- pullSources
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.gone = 0 AND q.reach = 2 AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- pullSources
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN (SELECT value AS reach FROM json_each('[0, 1, 2]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach AND q.origin = ''
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- pullSources
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k CROSS JOIN circles c ON c.id = k.key AND c.gone = 0 AND c.owner = @reader
		CROSS JOIN posts p ON p.id IN (SELECT q.post FROM post_circles q WHERE q.circle = k.key
		AND q.author = c.owner AND q.incarnation > c.dropped AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC;

-- pullSources
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k LEFT JOIN authors e ON e.id = k.key CROSS JOIN (SELECT value AS reach FROM json_each('[3]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach AND q.created > coalesce(e.erased, 0) AND q.removed < 2 AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life AND x.reach = 2 AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = x.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = x.author AND b.other = @reader))
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- purgePromotions
DELETE FROM promotions WHERE id IN (SELECT value FROM json_each(?));

-- purges
DELETE FROM authors WHERE (id) IN (SELECT x.id FROM authors x WHERE erased > 0 AND erased_agent = 0 AND erased <= ? AND erasing = 0
		AND has_card = false AND followers = 0 AND following = 0 AND delivery = 'push' AND suspended_until = 0 ORDER BY erased LIMIT +?);

-- purges
DELETE FROM circles WHERE (id) IN (SELECT x.id FROM circles x WHERE gone > 0 AND gone <= ? AND size = 0
		AND NOT EXISTS (SELECT 1 FROM post_circles pc WHERE pc.circle = x.id)
		AND NOT EXISTS (SELECT 1 FROM moderated_circles pc WHERE pc.circle = x.id) ORDER BY gone LIMIT +?);

-- purges
DELETE FROM follows WHERE (agent, author) IN (SELECT x.agent, x.author FROM follows x WHERE gone > 0 AND gone <= ? ORDER BY gone LIMIT +?);

-- purges
DELETE FROM members WHERE (circle, agent) IN (SELECT x.circle, x.agent FROM members x WHERE gone > 0 AND gone <= ? ORDER BY gone LIMIT +?);

-- querying.touched
DELETE FROM temp.touched;

-- querying.touched
SELECT DISTINCT kind, key FROM temp.touched;

-- readsAuthors
SELECT p.id, coalesce(a.delivery, 'push'), coalesce(a.erased, 0)
		FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id IN (SELECT value FROM json_each(?));

-- readsAuthors, for a list of one
SELECT p.id, coalesce(a.delivery, 'push'), coalesce(a.erased, 0)
		FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id = ?;

-- receiversText
SELECT agent, min(rank) FROM (
	SELECT $2 AS agent, 0 AS rank WHERE $2 > $3 AND $5
	UNION ALL SELECT * FROM (SELECT agent, 1 FROM follows WHERE $6 AND author = $2 AND gone = 0 AND agent > $3 ORDER BY agent LIMIT +$4) by_follow
	UNION ALL SELECT * FROM (SELECT DISTINCT m.agent, 2 FROM post_circles pc
		JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation
		JOIN members m ON m.circle = pc.circle AND m.gone = 0 AND (m.since <= 1 OR m.since < pc.at)
		WHERE pc.post = $1 AND m.agent > $3 AND NOT (m.since > 0 AND EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = m.agent AND mu.kind = 'circle' AND mu.id = m.circle AND mu.until = 0)) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT +$4) by_circle
	UNION ALL SELECT * FROM (SELECT m.agent, 3 FROM post_mentions m WHERE m.post = $1 AND m.agent > $3
		AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = m.agent), 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT +$4) by_mention
	) receivers GROUP BY agent ORDER BY agent LIMIT +$4;

-- recordColumns
SELECT p.id, p.author, p.created_at, p.reach, p.origin, p.reply, p.react, p.version, p.likes_here, p.likes_reported,
	p.comments_reported, p.created, p.deleted, p.caption_at, p.tags_at, p.alts_at, p.counted, p.here, p.tags, p.grants, p.content,
	p.comments_here, p.repliers, CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END, CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END, p.root_life, p.removed, p.reply_at, coalesce((SELECT a.not_recommended FROM authors a WHERE a.id = p.author), false), (SELECT json_group_array(c.circle) FROM post_circles c WHERE c.post = p.id ORDER BY c.circle)
		FROM posts p WHERE p.id IN (SELECT value FROM json_each(?)) ORDER BY p.root = '', p.id;

-- recordColumns, for a list of one
SELECT p.id, p.author, p.created_at, p.reach, p.origin, p.reply, p.react, p.version, p.likes_here, p.likes_reported,
	p.comments_reported, p.created, p.deleted, p.caption_at, p.tags_at, p.alts_at, p.counted, p.here, p.tags, p.grants, p.content,
	p.comments_here, p.repliers, CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted) THEN 1 ELSE 0 END, CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE o.root = p.id AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > p.deleted AND o.author = p.author) THEN 1 ELSE 0 END, p.root_life, p.removed, p.reply_at, coalesce((SELECT a.not_recommended FROM authors a WHERE a.id = p.author), false), (SELECT json_group_array(c.circle) FROM post_circles c WHERE c.post = p.id ORDER BY c.circle)
		FROM posts p WHERE p.id = ? ORDER BY p.root = '', p.id;

-- releaseUnknownText
UPDATE jobs SET state = 'pending', leased_till = 0, attempts = max(attempts - 1, 0), changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END WHERE (id) IN (SELECT x.id FROM jobs x WHERE x.state = 'running' AND x.worker = $4
		AND NOT EXISTS (SELECT 1 FROM (SELECT value ->> 0 AS id, value ->> 1 AS lease FROM json_each($2) LIMIT -1) h WHERE h.id = x.id AND h.lease = x.lease)) RETURNING id, state;

-- renewText
WITH held AS MATERIALIZED (SELECT j.id FROM (SELECT value ->> 0 AS id, value ->> 1 AS lease FROM json_each($2) LIMIT -1) h CROSS JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
	ORDER BY j.kind, j.key)
		UPDATE jobs SET leased_till = $1 + $4, changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END FROM held WHERE jobs.id = held.id RETURNING jobs.id, state;

-- repeatedInvitations
DELETE FROM notifications WHERE agent IN (SELECT value FROM json_each($2)) AND kind = 'invitation' AND object = $1 AND EXISTS (SELECT 1 FROM notifications o
		WHERE o.agent = notifications.agent AND o.kind = 'invitation' AND o.object = $1 AND (o.number, o.actor) > (notifications.number, notifications.actor));

-- repeatedInvitations, for a list of one
DELETE FROM notifications WHERE agent = $2 AND kind = 'invitation' AND object = $1 AND EXISTS (SELECT 1 FROM notifications o
		WHERE o.agent = notifications.agent AND o.kind = 'invitation' AND o.object = $1 AND (o.number, o.actor) > (notifications.number, notifications.actor));

-- repliesText
SELECT q.author, q.created_at, q.id FROM posts q
		WHERE q.root = $2 AND q.root <> '' AND q.gone = 0 AND (q.removed < 2 OR q.author = $1) AND q.root_life > (SELECT p.deleted FROM posts p WHERE p.id = $2)
		AND (q.created_at, q.id) < ($3, $4) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = $1)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +$5;

-- repliesText
SELECT q.author, q.created_at, q.id FROM posts q
		WHERE q.root = $2 AND q.root <> '' AND q.gone = 0 AND (q.removed < 2 OR q.author = $1) AND q.root_life > (SELECT p.deleted FROM posts p WHERE p.id = $2)
		AND (q.created_at, q.id) > ($3, $4) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = q.author) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = $1)
		ORDER BY q.created_at ASC, q.id ASC LIMIT +$5;

-- repliesThere
SELECT k.key, p.author, p.created_at, p.id FROM (SELECT value AS key FROM json_each(@keys)) k LEFT JOIN authors e ON e.id = k.key CROSS JOIN (SELECT value AS reach FROM json_each('[3, 4]')) r
		CROSS JOIN posts p ON p.seq IN (SELECT q.seq FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach AND q.created > coalesce(e.erased, 0) AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life)
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)
		ORDER BY p.created_at DESC, p.id DESC LIMIT +@n;

-- sampleText
SELECT agent FROM (SELECT DISTINCT agent FROM follows WHERE gone = 0) followers ORDER BY random() LIMIT +?;

-- saveAuthor
INSERT INTO authors (id, name, image_url, bio, card_at, has_card, suggest_from_follows, not_recommended)
	VALUES ($1, $2, $3, $4, $5, true, CASE WHEN $6 THEN $7 ELSE 0 END, $8 < 0)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, image_url = excluded.image_url, bio = excluded.bio, card_at = excluded.card_at, has_card = true,
	suggest_from_follows = CASE WHEN $6 THEN excluded.suggest_from_follows ELSE authors.suggest_from_follows END,
	not_recommended = CASE WHEN $8 = 0 THEN authors.not_recommended ELSE excluded.not_recommended END
	WHERE $5 > authors.erased AND ($5 > authors.card_at OR $5 = authors.card_at
	AND ($2, $3, $4) > (authors.name, authors.image_url, authors.bio));

-- standing.between
SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.author = $2 AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
		EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.agent WHERE f.agent = $2 AND f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0) AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)),
		EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = $2), EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = $1);

-- standingText
SELECT n.kind, n.object, n.actor, n.post, n.number, n.at, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(c.name, '')
	FROM notifications n LEFT JOIN authors a ON a.id = n.actor LEFT JOIN circles c ON c.id = n.object AND n.kind IN ('invitation', 'joined')
	WHERE n.agent = $1 AND n.at > $2 AND n.at > coalesce(a.erased, 0)
	AND n.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = n.actor) AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = n.actor AND b.other = $1)
	AND NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'notification' AND mu.id = n.kind AND mu.until = 0)
	AND CASE n.kind
	WHEN 'follow' THEN EXISTS (SELECT 1 FROM follows f WHERE f.agent = n.actor AND f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0)
		AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0))
	WHEN 'like' THEN EXISTS (SELECT 1 FROM likes l JOIN posts p ON p.id = l.post WHERE l.post = n.object AND l.agent = n.actor
		AND l.incarnation > p.deleted AND l.at > coalesce(a.erased_agent, 0) AND p.author = $1 AND p.origin = '')
	WHEN 'reply' THEN EXISTS (SELECT 1 FROM posts r JOIN posts p ON p.id = n.object WHERE r.id = n.post AND r.author = n.actor AND p.author = $1 AND p.origin = ''
		AND r.root = CASE WHEN p.root = '' THEN p.id ELSE p.root END)
	WHEN 'mention' THEN EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = n.object AND m.agent = $1 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0))
		OR EXISTS (SELECT 1 FROM reply_mentions m WHERE m.reply = n.object AND m.agent = $1 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0))
	WHEN 'invitation' THEN c.owner = n.actor AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND  NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'inviter' AND mu.id = c.owner AND mu.until = 0)
		AND EXISTS (SELECT 1 FROM invitations i WHERE i.circle = n.object AND i.agent = $1 AND i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner)) AND (c.until = 0 OR c.until > $4))
	WHEN 'joined' THEN c.owner = $1 AND c.kind <> 'circle' AND c.gone = 0 AND c.put > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = c.owner), 0) AND NOT EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = $1 AND mu.kind = 'circle' AND mu.id = n.object AND (mu.until = 0 OR mu.until > $5))
		AND EXISTS (SELECT 1 FROM members m WHERE m.circle = n.object AND m.agent = n.actor AND m.gone = 0 AND m.at > coalesce(a.erased_agent, 0))
	ELSE false END
	ORDER BY n.number DESC, n.kind, n.object, n.actor, n.post LIMIT +$3;

-- statusesText
SELECT p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0 AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) AND f.at > coalesce(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '@server' AND f.gone = 0
		AND f.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	(SELECT json_group_array(CASE WHEN (m.since <= 1 OR m.since < pc.at) THEN CASE WHEN mu.id <> '' THEN '~' || mu.until || ' ' ELSE '+' END ELSE '-' END || CASE WHEN c.kind = 'circle' AND c.owner <> $1 THEN '' WHEN c.owner = $1 OR m.at > 0 THEN c.id || ' ' || c.name ELSE c.id || ' ' END) FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	LEFT JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)
	LEFT JOIN mutes mu ON mu.agent = $1 AND mu.kind = 'circle' AND mu.id = pc.circle AND m.since > 0
	WHERE pc.post = p.id AND (m.at > 0 OR pc.author = $1)),
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 AND m.life = coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)),
	EXISTS (SELECT 1 FROM json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g WHERE g.value = CASE WHEN coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) = 0 THEN $1 ELSE $1 || ' ' || coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0) END),
	(EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author) OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1)),
	p.reach < 2 AND (p.grants <> '' OR EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id)),
	p.reach = 0 AND p.author = $1 AND EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own),
	p.deleted, p.root, p.root_life, p.removed, (SELECT json_group_array(rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason) FROM removals rm WHERE rm.post = p.id AND p.removed > 0), j.i - 1, p.created_at FROM (SELECT value AS id, key + 1 AS i FROM json_each($2)) j CROSS JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author WHERE p.author <> '';

-- sweepText
DELETE FROM jobs WHERE (id) IN (SELECT x.id FROM jobs x WHERE state = 'completed' AND finished <= ? - ? ORDER BY finished LIMIT +?);

-- threadThere
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND p.author = ? ORDER BY p.created_at DESC, p.id DESC LIMIT +?;

-- threadThere
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND p.id >= 'post:0' AND p.id < 'post:1' AND p.id < ? ORDER BY p.id DESC LIMIT +?;

-- threadThere
SELECT p.id FROM posts p WHERE p.gone = 0 AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0))) AND p.id >= 'post:0' AND p.id < 'post:1' ORDER BY p.id DESC LIMIT +?;

-- trimText
DELETE FROM notifications WHERE (agent, kind, object, actor, post) IN (SELECT x.agent, x.kind, x.object, x.actor, x.post FROM notifications x JOIN (SELECT r.*,
		row_number() OVER (PARTITION BY r.agent, r.much ORDER BY r.number DESC) AS newest,
		row_number() OVER (PARTITION BY r.agent, r.kind, r.much ORDER BY r.number DESC) AS of_kind
		FROM (SELECT n.agent, n.kind, n.object, n.actor, n.post, n.number, count(*) OVER (PARTITION BY n.agent) AS kept,
			row_number() OVER (PARTITION BY n.agent, n.actor ORDER BY n.number DESC) > $5 AS much
			FROM notifications n JOIN inboxes i ON i.agent = n.agent WHERE i.agent IN (SELECT value FROM json_each($1)) AND i.number % $3 = 0) r) o
	ON o.agent = x.agent AND o.kind = x.kind AND o.object = x.object AND o.actor = x.actor AND o.post = x.post
	AND o.kept > $2 AND (o.much OR o.newest > $2 AND o.of_kind > $4));

-- trimText, for a list of one
DELETE FROM notifications WHERE (agent, kind, object, actor, post) IN (SELECT x.agent, x.kind, x.object, x.actor, x.post FROM notifications x JOIN (SELECT r.*,
		row_number() OVER (PARTITION BY r.agent, r.much ORDER BY r.number DESC) AS newest,
		row_number() OVER (PARTITION BY r.agent, r.kind, r.much ORDER BY r.number DESC) AS of_kind
		FROM (SELECT n.agent, n.kind, n.object, n.actor, n.post, n.number, count(*) OVER (PARTITION BY n.agent) AS kept,
			row_number() OVER (PARTITION BY n.agent, n.actor ORDER BY n.number DESC) > $5 AS much
			FROM notifications n JOIN inboxes i ON i.agent = n.agent WHERE i.agent = $1 AND i.number % $3 = 0) r) o
	ON o.agent = x.agent AND o.kind = x.kind AND o.object = x.object AND o.actor = x.actor AND o.post = x.post
	AND o.kept > $2 AND (o.much OR o.newest > $2 AND o.of_kind > $4));

-- unknown
SELECT s.epoch, CAST(ifnull(n.seq, 0) AS TEXT), s.trimmed, CAST(? AS INTEGER) >= s.trimmed, CAST(? AS INTEGER) > ifnull(n.seq, 0)
		FROM changes_state s LEFT JOIN sqlite_sequence n ON n.name = 'changes' WHERE s.one AND s.epoch <> '';

-- unleased
WITH held AS MATERIALIZED (SELECT j.id FROM (SELECT value ->> 0 AS id, value ->> 1 AS lease FROM json_each($2) LIMIT -1) h CROSS JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
	ORDER BY j.kind, j.key)
		UPDATE jobs SET state = 'pending', leased_till = 0, attempts = max(attempts - 1, 0), changed = $1, due = CASE WHEN due > $1 AND changed > $1 + 1000000 THEN $1 ELSE due END, run_at = CASE WHEN run_at > $1 AND changed > $1 + 1000000 THEN $1 ELSE run_at END FROM held WHERE jobs.id = held.id RETURNING jobs.id, state;

-- usedAgain
SELECT e.erased_agent, e.erased_agent > 0 AND (e.card_at > e.erased
	OR EXISTS (SELECT 1 FROM posts WHERE author = $1 AND gone = 0 AND created > e.erased_agent)
	OR EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND gone = 0 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM likes WHERE agent = $1 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM members WHERE agent = $1 AND gone = 0 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM circles WHERE owner = $1 AND gone = 0 AND put > e.erased_agent)
	OR EXISTS (SELECT 1 FROM blocks WHERE agent = $1 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM mutes WHERE agent = $1)
	OR EXISTS (SELECT 1 FROM reports WHERE agent = $1 AND at > e.erased_agent)) FROM authors e WHERE e.id = $1;

-- writer.Write
BEGIN IMMEDIATE;

-- writer.Write
COMMIT;

-- writer.Write
ROLLBACK;
