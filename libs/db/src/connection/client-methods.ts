/** Proxies that replace some methods of a connection or a pool and pass everything else on to the original object. */

export function withMethods<T extends object>(
  target: T,
  methods: Readonly<Record<string, unknown>>,
): T {
  return new Proxy(target, {
    get: (of, key) => {
      if (typeof key === 'string' && Object.hasOwn(methods, key)) return methods[key];
      const value: unknown = Reflect.get(of, key, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}

/**
 * Whether the statement is an object that pg submits itself: a COPY stream, or a query whose rows arrive as events. The
 * caller keeps the object, to write to it or to listen to it.
 */
export function isStream(statement: unknown): statement is object {
  return typeof statement === 'object' && statement !== null && 'submit' in statement;
}
