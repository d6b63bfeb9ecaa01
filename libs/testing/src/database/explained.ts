import { type Database } from '#libs/db';

/** A node of PostgreSQL's plan, with what it read. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The same database, which also notes the plan of each statement. `nodes` are those of all plans. */
export function explained(database: Database): { database: Database; nodes: PlanNode[] } {
  const nodes: PlanNode[] = [];
  const explaining = Object.create(database) as Database;
  explaining.query = async (statement, values) => {
    const explain = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}` };
    const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      explain,
      statement.values ?? values,
    );
    if (row !== undefined) nodes.push(...allNodes(row['QUERY PLAN'][0].Plan));
    return database.query(statement, values);
  };
  return { database: explaining, nodes };
}

function allNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(allNodes)];
}
