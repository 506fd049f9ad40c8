"""Uses the generated client: reads two pages of a feed, counts new entries, sends a click."""

import sys
import time
import uuid

import httpx
from freshet_client import Client
from freshet_client.api.feed import post_events, post_feed
from freshet_client.models import (
    Event,
    EventType,
    FeedAnswer,
    FeedRequest,
    FeedRequestAction,
    Post,
    PostEventsAnswer,
)


def read(client, action):
    """Requests a page. Retries have the same request_id, so they return the page of a lost answer."""
    body = FeedRequest(action, limit=5, feed="home", request_id=str(uuid.uuid4()))
    for pause in (0.25, 0.5, 1):
        try:
            answer = post_feed.sync_detailed(client=client, body=body)
            if answer.status_code < 500:
                return page(answer.parsed)
        except httpx.TransportError:
            pass
        time.sleep(pause)
    return page(post_feed.sync(client=client, body=body))


def page(answer):
    if not isinstance(answer, FeedAnswer):
        raise SystemExit(f"no page: {answer}")
    return answer.data


def show(content):
    if isinstance(content, Post):
        print(f"{content.author.name}: {content.caption.splitlines()[0]}")
    else:
        print(content.title, content.additional_properties or "")


def main(server, agent):
    # In jwt mode: AuthenticatedClient(base_url=server, token=token).
    client = Client(base_url=server, headers={"X-Agent-ID": agent})

    first = read(client, FeedRequestAction.REFRESH)
    for content in first.items + read(client, FeedRequestAction.LOAD_MORE).items:
        show(content)

    silent = FeedRequest(FeedRequestAction.REFRESH, silent=True, feed="home")
    print(page(post_feed.sync(client=client, body=silent)).new_count, "new")

    if first.items:
        click = Event(id=first.items[0].id, type_=EventType.CLICK)
        done = post_events.sync(client=client, body=click)
        assert isinstance(done, PostEventsAnswer), done
        print(done.data.accepted, "event accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])
