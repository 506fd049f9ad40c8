#!/usr/bin/env bash
# Finds phrases that comments and documents of this project must not contain.
# usage: scripts/check_wording.sh
# "X is what Y does" hides what X is: write "X is the Y of …". The list below has each other
# phrase with its plainer replacement.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

phrases='
what became of               the outcome of
(that|it) was news           anything changed
beside requests              in the background
makes? agree                 keeps consistent
gives no name                is not signed in
what those have posted       posts from the people
\bfates?\b                   outcome
(^|[^i])deal($|[^l])         page builder, placed, varied
\blanes?\b                   source queue, server
\btwins?\b                   duplicates
\bloose (page|file)s?\b      page without a session, unused file
\b(media\.|New)Shop\b         Processor
(likes|comments)_told        likes_reported, comments_reported
\bstud(y|ies)\b              analysis
(cannot|could not) be asked  unavailable
stands? in for               replaces, is used instead of
\bwhoever\b                  readers who, a caller that
goes? without                lacks
somebody else.s              foreign, of another agent
'
files=(--include='*.go' --include='*.md' --include='*.yaml' --include='*.yml' --include='*.js' --include='*.ts' --include='*.tsx' --include='*.html' --include='*.sh' --include='*.sql' --exclude=check_wording.sh --exclude-dir=node_modules --exclude-dir=.git)
failed=
while read -r line; do
  [ -n "$line" ] || continue
  phrase=${line%%  *}
  if grep -rniE "${files[@]}" -- "$phrase" .; then
    echo "words: instead of \"$phrase\" write: ${line##*  }" >&2
    failed=yes
  fi
done <<<"$phrases"

found=$(grep -rnE --include='*.go' '//.*\b(is|are) what\b' . || true)
if [ "$(grep -c . <<<"$found")" -gt 20 ]; then
  echo "$found"
  echo 'words: more than 20 comments say that a thing "is what" something does; say what it is' >&2
  failed=yes
fi
[ -z "$failed" ]
