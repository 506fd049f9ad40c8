/** In a path, the caller. */
export const caller = '~';

/** Parameters of a method about an agent. Without the agent's id, it is about the caller. */
export type ForAgent<Rest extends unknown[]> = Rest | [agent: string, ...rest: Rest];

/** Puts the caller before parameters that do not begin with `texts` texts, the first of which is an agent. */
export function withAgent<Rest extends unknown[]>(given: ForAgent<Rest>, texts: number): [agent: string, ...rest: Rest] {
  const named = given.length >= texts && given.slice(0, texts).every((value) => typeof value === 'string');
  return named ? given as [agent: string, ...rest: Rest] : [caller, ...given as Rest];
}

/** The path of what belongs to an agent. */
export const agentPath = (id: string) => `/v1/agents/${encodeURIComponent(id)}`;

/** The query string of the given values, with its question mark. */
export function query(values: Record<string, string | number | null | undefined>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) given.set(name, String(value));
  }
  const text = given.toString();
  return text && `?${text}`;
}
