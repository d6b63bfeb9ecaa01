export interface Statement {
  /** The server parses and plans a named statement once per connection, an unnamed one at each execution. */
  readonly name?: string | undefined;
  readonly text: string;
  /** Parameter values that `named` has bound. */
  readonly values?: unknown[];
}

/** A statement with the values of its parameters, in the form that `Database.query` and pg's `client.query` take. */
interface BoundStatement extends Statement {
  readonly values: unknown[];
}

type Binding<V> = (values: V) => BoundStatement;

/**
 * A prepared statement with named parameters: `:wallet` in the text stands for the value `wallet`, in one place or
 * several. `::` is a cast, as in SQL.
 *
 *     const FIND = named<{ partner: string }>('partner_find', 'SELECT id FROM partners.partner WHERE name = :partner');
 *     await client.query(FIND({ partner }));
 */
export function named<V extends object>(name: string, text: string): Binding<V> {
  return binding({ name }, text);
}

/**
 * Like `named`, but without a name: PostgreSQL plans the statement for its values each time, because the best
 * index depends on them.
 */
export function unnamed<V extends object>(text: string): Binding<V> {
  return binding({}, text);
}

function binding<V extends object>(head: { readonly name?: string }, text: string): Binding<V> {
  const parameters: string[] = [];
  const numbered = text.replace(/(?<![:\w]):([a-z]\w*)/gi, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${String(parameters.indexOf(parameter) + 1)}`;
  });
  return (values) => {
    const given = values as Record<string, unknown>;
    return {
      ...head,
      text: numbered,
      values: parameters.map((parameter) => {
        // pg would send undefined as NULL.
        if (given[parameter] === undefined) {
          throw new TypeError(`${head.name ?? 'a statement'}: ${parameter} is missing`);
        }
        return given[parameter];
      }),
    };
  };
}

/** The values of a statement whose optional fields are null instead of undefined, because `named` refuses undefined. */
export type OrNull<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

export function orNull<T extends object>(values: T): OrNull<T> {
  const told = Object.entries(values).map(([name, value]: [string, unknown]) => [
    name,
    value ?? null,
  ]);
  return Object.fromEntries(told) as OrNull<T>;
}
