import { type Statement } from './database.js';

/** A statement with the values of its parameters, as both `Database.query` and pg's `client.query` take it. */
interface BoundStatement extends Statement {
  readonly values: unknown[];
}

/**
 * A prepared statement whose parameters have names: `:wallet` in the text is the value called `wallet`. A parameter may stand
 * in several places. `::` is a cast, as in SQL.
 *
 *     const FIND = named<{ partner: string }>('partner_find', 'SELECT id FROM partners.partner WHERE name = :partner');
 *     await client.query(FIND({ partner }));
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the values are held to
export function named<V extends object>(name: string, text: string): (values: V) => BoundStatement {
  const parameters: string[] = [];
  const numbered = text.replace(/(?<![:\w]):([a-z]\w*)/gi, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${String(parameters.indexOf(parameter) + 1)}`;
  });
  return (values) => {
    const given = values as Record<string, unknown>;
    return {
      name,
      text: numbered,
      values: parameters.map((parameter) => {
        // PostgreSQL would take it for NULL.
        if (given[parameter] === undefined) throw new TypeError(`${name}: ${parameter} is missing`);
        return given[parameter];
      }),
    };
  };
}
