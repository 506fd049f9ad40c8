import type { Client } from './client.js';
import type { News } from './stream.js';
import { Watch } from './watch.js';

/** What to report of the things that happen to a reader; see {@link Client.live}. */
export interface LiveOptions {
  /**
   * Called with the number of unread notifications, 99 for that many or more: at the start, when
   * there is a new one, and when one of the reader's devices has marked some as seen. The number
   * may be the same as before.
   */
  unread?: ((count: number) => void) | undefined;
  /**
   * Called with the number of posts that are new in the timeline since the last call, 99 for that
   * many or more. Add them up, and read the first page of the timeline when the reader asks for
   * it. After a follow, posts count that the page may have shown since. Not called without a stream.
   */
  posts?: ((count: number) => void) | undefined;
  /**
   * The interval of asking for the number of unread notifications without a stream, in
   * milliseconds; default 60,000. It is ten times as long while a stream is open.
   */
  every?: number | undefined;
  /**
   * Called with the reason why there is no stream, or why a call failed. It goes on: a lasting
   * error, such as `unauthenticated`, is reported each time.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** Reports unread notifications and new posts. The stream tells of changes; a call counts when it begins anew. */
export class LiveWatch extends Watch {
  readonly #tell: LiveOptions;
  #unread = -1; // the last number that was told
  #events = 0; // numbers told by the stream
  protected readonly first = 500; // the stream is usually open by then, which makes the check

  constructor(client: Client, options: LiveOptions) {
    super(client, options);
    this.#tell = options;
    this.start();
  }

  protected heard({ count, unread }: News, began: boolean): void {
    const { posts } = this.#tell;
    if (unread !== undefined) {
      this.#events++;
      this.#report(unread); // also if it is the same number: one may have joined a group of notifications
      return;
    }
    if (count > 0 && posts) this.callLater(() => posts(count));
    if (began) this.checkNow(); // a stream that begins is silent if there are no unread ones
  }

  protected lost(): void {}

  protected async check(signal: AbortSignal): Promise<void> {
    if (!this.#tell.unread) return;
    const events = this.#events;
    const { unread } = await this.client.notifications({ limit: 1, signal });
    if (events === this.#events && !signal.aborted && unread !== this.#unread) this.#report(unread);
  }

  protected pause(every = 60_000): number {
    return every * (this.live ? 10 : 1);
  }

  #report(count: number): void {
    const { unread } = this.#tell;
    this.#unread = count;
    if (unread) this.callLater(() => unread(count));
  }
}
