// Uses the generated client: reads two pages of a feed, counts new entries, sends a click.
import app.freshet.apis.FeedApi
import app.freshet.infrastructure.ApiClient
import app.freshet.infrastructure.ServerException
import app.freshet.models.Content
import app.freshet.models.Event
import app.freshet.models.FeedRequest
import app.freshet.models.FeedRequest.Action
import app.freshet.models.Page
import app.freshet.models.PostEventsRequest
import java.io.IOException
import java.util.UUID

fun main(args: Array<String>) {
    val (server, agent) = args
    ApiClient.apiKey["X-Agent-ID"] = agent // in jwt mode: ApiClient.accessToken = token
    val api = FeedApi(server)

    val first = api.read(Action.refresh)
    first.items.forEach(::show)
    api.read(Action.load_more).items.forEach(::show)

    val badge = api.postFeed(FeedRequest(Action.refresh, silent = true, feed = "home"))
    println("${badge.data.newCount} new")

    first.items.firstOrNull()?.let {
        val click = Event(id = id(it), type = Event.Type.click)
        val done = api.postEvents(PostEventsRequest.EventValue(click))
        println("${done.data.accepted} event accepted")
    }
}

/** Requests a page. Retries have the same request_id, so they return the page of a lost answer. */
fun FeedApi.read(action: Action): Page {
    val request = FeedRequest(action, limit = 5, feed = "home", requestId = UUID.randomUUID().toString())
    for (pause in longArrayOf(250, 500, 1000)) {
        try {
            return postFeed(request).data
        } catch (e: IOException) {
            Thread.sleep(pause)
        } catch (e: ServerException) {
            Thread.sleep(pause)
        }
    }
    return postFeed(request).data
}

fun id(content: Content) = when (content) {
    is Content.PostValue -> content.value.id
    is Content.FeedItemValue -> content.value.id
}

fun show(content: Content) = when (content) {
    is Content.PostValue -> println("${content.value.author.name}: ${content.value.caption.lineSequence().first()}")
    is Content.FeedItemValue -> println(content.value.title)
}
