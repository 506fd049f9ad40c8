// Uses the generated client: reads two pages of a feed, counts new entries, sends a click.
import Foundation
import Freshet

@main
struct Feed {
    static func main() async throws {
        let api = FreshetAPIConfiguration.shared
        api.basePath = CommandLine.arguments[1]
        api.customHeaders = ["X-Agent-ID": CommandLine.arguments[2]] // in jwt mode: "Authorization": "Bearer \(token)"

        let first = try await read(.refresh)
        let next = try await read(.loadMore)
        for content in first.items + next.items { show(content) }

        let silent = FeedRequest(action: .refresh, silent: true, feed: "home")
        let badge = try await FeedAPI.postFeed(feedRequest: silent).data
        print("\(badge.newCount ?? 0) new")

        if let content = first.items.first {
            let click = Event(type: .click, id: id(content))
            let done = try await FeedAPI.postEvents(postEventsRequest: .typeEvent(click)).data
            print("\(done.accepted) event accepted")
        }
    }

    /// Requests a page. Retries have the same request_id, so they return the page of a lost answer.
    static func read(_ action: FeedRequest.Action) async throws -> Page {
        let request = FeedRequest(action: action, limit: 5, requestId: UUID().uuidString, feed: "home")
        for pause: UInt64 in [250, 500, 1000] {
            do {
                return try await FeedAPI.postFeed(feedRequest: request).data
            } catch ErrorResponse.error(let status, _, _, _) where status < 400 || status >= 500 {
                try await Task.sleep(nanoseconds: pause * 1_000_000)
            }
        }
        return try await FeedAPI.postFeed(feedRequest: request).data
    }

    static func show(_ content: Content) {
        switch content {
        case .typePost(let post): print("\(post.author.name): \(post.caption)")
        case .typeFeedItem(let item): print(item.title)
        }
    }

    static func id(_ content: Content) -> String {
        switch content {
        case .typePost(let post): post.id
        case .typeFeedItem(let item): item.id
        }
    }
}
