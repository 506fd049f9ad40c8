// A network that fails as a test asks: it passes calls on to a real server, and cuts,
// holds or replaces the answers of those that a fault is for.
import http from 'node:http';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';

/**
 * @typedef {{method: string, path: string, headers: http.IncomingHttpHeaders, body: string}} Call
 * @typedef {object} Fault
 * @property {(call: Call) => boolean} on which call it is for; it happens once unless it is to stay
 * @property {'cut' | 'cut in half' | 'hold'} [answer] what becomes of the answer that the server has given
 * @property {Promise<unknown>} [after] the answer of the server is passed on after this
 * @property {{status: number, headers?: Record<string, string>, body: string}} [instead] what is answered in place of the server
 * @property {boolean} [stays]
 */

/** @param {string} target the URL of the server */
export async function proxy(target) {
  /** @type {Fault[]} */
  const faults = [];
  /** @type {Call[]} */
  const calls = [];
  /** @type {Set<http.ServerResponse>} */
  const streams = new Set();

  /** @param {Call} call */
  const faultOf = (call) => {
    const i = faults.findIndex((fault) => fault.on(call));
    const fault = faults[i];
    if (fault && !fault.stays) faults.splice(i, 1);
    return fault;
  };

  const server = http.createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await buffer(request);
    const call = { method, path: url, headers, body: body.toString('latin1') };
    calls.push(call);
    const fault = faultOf(call);
    if (fault?.instead) {
      response.writeHead(fault.instead.status, fault.instead.headers).end(fault.instead.body);
      return;
    }
    const passed = http.request(target + url, { method, headers, agent: false }, async (answer) => {
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        streams.add(response);
        response.on('close', () => { streams.delete(response); passed.destroy(); });
        response.writeHead(200, answer.headers);
        answer.on('error', () => response.destroy()).pipe(response);
        return;
      }
      const whole = await buffer(answer);
      await fault?.after;
      if (fault?.answer === 'hold') return;
      if (fault?.answer === 'cut') {
        response.destroy();
        return;
      }
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      if (fault?.answer === 'cut in half') response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
      else response.end(whole);
    });
    passed.on('error', () => response.destroy());
    passed.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** All calls so far, in their order. */
    calls,
    /**
     * @param {Fault} fault for the next call that it is for
     * @returns {() => void} what takes it back
     */
    fail(fault) {
      faults.push(fault);
      return () => { if (faults.includes(fault)) faults.splice(faults.indexOf(fault), 1); };
    },
    /** How many streams are open. */
    streams: () => streams.size,
    /** Cuts all streams that are open. */
    cutStreams() { for (const response of streams) response.destroy(); },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
