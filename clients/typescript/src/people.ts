import { bindMethods } from './bound.js';
import type { PageOptions } from './client.js';
import type { CallOptions } from './options.js';
import { agentPath, caller, query, withAgent, type ForAgent } from './paths.js';
import type { Transport } from './transport.js';
import type { AgentPage, Author, AuthorCard, AuthorPatch, Circle, CircleChange, CirclePage, Me, PostPage } from './types.js';

/** The calls about people, and about circles, groups and events: a part of the client. */
export class People {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    bindMethods(this, People.prototype);
  }

  /**
   * GET /v1/authors/~: the caller's own card, with its id, also of a reader who has done nothing
   * yet. `suspended_until` is set while the caller is suspended.
   */
  me(options?: CallOptions): Promise<Me> {
    return this.#get(authorPath(caller), options);
  }

  /** GET /v1/authors/{id}. `not_found` if there is no such author, or one who blocks the caller. */
  author(author: string, options?: CallOptions): Promise<Author> {
    return this.#get(authorPath(author), options);
  }

  /** GET /v1/authors/{id}/posts: the author's posts that the caller may see, newest first. */
  authorPosts(author: string, options: PageOptions = {}): Promise<PostPage> {
    return this.#get(`${authorPath(author)}/posts${query({ cursor: options.cursor, limit: options.limit })}`, options);
  }

  /**
   * PATCH /v1/authors/{id}: changes fields of the card, `{ recommend: false }`; null removes one.
   * Returns the card as stored, with the id.
   */
  patchAuthor(...given: ForAgent<[patch: AuthorPatch, options?: CallOptions]>): Promise<AuthorCard> {
    const [author, patch, options] = withAgent(given, 1);
    return this.#transport.do({ method: 'PATCH', path: authorPath(author), body: patch, repeatable: true }, options);
  }

  /**
   * GET /v1/agents/{agent_id}/following: a page of whom the agent follows, with cards. `next_after`
   * is the `after` of the next page, null if there is none.
   */
  following(agent = caller, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${agentPath(agent)}/following${from(after)}`, options);
  }

  /** GET /v1/agents/{agent_id}/followers, in the same way. */
  followers(agent = caller, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${agentPath(agent)}/followers${from(after)}`, options);
  }

  /**
   * DELETE /v1/agents/{agent_id}: erases all data about the agent, for good. A token from before
   * writes nothing any more: sign the reader out.
   */
  async eraseAgent(...given: ForAgent<[options?: CallOptions]>): Promise<void> {
    const [agent, options] = withAgent(given, 1);
    await this.#transport.do({ method: 'DELETE', path: agentPath(agent), repeatable: true }, options);
  }

  /**
   * GET /v1/circles: circles, groups and events that the caller owns; or groups and events of
   * others that it has joined, or is invited to.
   */
  circles(of: 'owned' | 'joined' | 'invited' = 'owned', after = '', options?: CallOptions): Promise<CirclePage> {
    return this.#get(`/v1/circles${query({ of, after: after || undefined })}`, options);
  }

  /** GET /v1/circles/{id}. `not_found` for who has no part in it. */
  circle(circle: string, options?: CallOptions): Promise<Circle> {
    return this.#get(circlePath(circle), options);
  }

  /**
   * PUT /v1/circles/{id}: creates a circle, a group (`{ kind: 'group', name }`) or an event, or
   * replaces its name and members. All agents share the ids: make up a random one.
   */
  putCircle(circle: string, put: CircleChange, options?: CallOptions): Promise<Circle> {
    return this.#transport.do({ method: 'PUT', path: circlePath(circle), body: put, repeatable: true }, options);
  }

  /** PATCH /v1/circles/{id}: changes the named fields; `{ owner }` hands a group over to a member. */
  patchCircle(circle: string, patch: CircleChange, options?: CallOptions): Promise<Circle> {
    return this.#transport.do({ method: 'PATCH', path: circlePath(circle), body: patch, repeatable: true }, options);
  }

  /** DELETE /v1/circles/{id}. `not_found` if it does not exist; after a retry, the first try may have deleted it. */
  async deleteCircle(circle: string, options?: CallOptions): Promise<void> {
    await this.#transport.do({ method: 'DELETE', path: circlePath(circle), repeatable: true }, options);
  }

  /** GET /v1/circles/{id}/members: a page, as of {@link People.following}. */
  members(circle: string, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${circlePath(circle)}/members${from(after)}`, options);
  }

  /**
   * PUT /v1/circles/{id}/members/{agent}: the caller joins a group that it is invited to; or the
   * owner of a circle adds somebody. Returns whether anything changed.
   */
  addMember(circle: string, agent = caller, options?: CallOptions): Promise<boolean> {
    return this.#change('PUT', memberPath(circle, agent), options);
  }

  /** DELETE /v1/circles/{id}/members/{agent}: the caller leaves, or the owner removes somebody. */
  removeMember(circle: string, agent = caller, options?: CallOptions): Promise<boolean> {
    return this.#change('DELETE', memberPath(circle, agent), options);
  }

  /** GET /v1/circles/{id}/invitations: a page of whom the owner has invited, as of {@link People.following}. */
  invitations(circle: string, after = '', options?: CallOptions): Promise<AgentPage> {
    return this.#get(`${circlePath(circle)}/invitations${from(after)}`, options);
  }

  /** PUT /v1/circles/{id}/invitations/{agent}: the owner of a group or event invites somebody. */
  invite(circle: string, agent: string, options?: CallOptions): Promise<boolean> {
    return this.#change('PUT', invitationPath(circle, agent), options);
  }

  /** DELETE /v1/circles/{id}/invitations/{agent}: the caller declines, or the owner withdraws. */
  withdrawInvitation(circle: string, agent = caller, options?: CallOptions): Promise<boolean> {
    return this.#change('DELETE', invitationPath(circle, agent), options);
  }

  #get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.#transport.do({ method: 'GET', path, repeatable: true }, options);
  }

  async #change(method: 'PUT' | 'DELETE', path: string, options?: CallOptions): Promise<boolean> {
    const { changed } = await this.#transport.do<{ changed: boolean }>({ method, path, repeatable: true }, options);
    return changed;
  }
}

const from = (after: string) => query({ after: after || undefined });
const authorPath = (id: string) => `/v1/authors/${encodeURIComponent(id)}`;
const circlePath = (id: string) => `/v1/circles/${encodeURIComponent(id)}`;
const memberPath = (circle: string, agent: string) => `${circlePath(circle)}/members/${encodeURIComponent(agent)}`;
const invitationPath = (circle: string, agent: string) => `${circlePath(circle)}/invitations/${encodeURIComponent(agent)}`;
