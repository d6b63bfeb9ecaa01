/** Connections and pools that send statements in another way, and are themselves in all else. */

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

/** COPY, or a query whose rows are listened to: it is submitted as the object that its caller writes to or listens to. */
export function isStream(statement: unknown): statement is object {
  return typeof statement === 'object' && statement !== null && 'submit' in statement;
}
