/**
 * Binds the methods of an object to it. State libraries such as Vue's `reactive` and valtio call
 * methods on a proxy or a copy, which lacks private fields.
 */
export function bindMethods(object: object, prototype: object): void {
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method: unknown = Reflect.get(object, name);
    if (name === 'constructor' || typeof method !== 'function') continue;
    Object.defineProperty(object, name, { value: method.bind(object), writable: true, configurable: true });
  }
}
