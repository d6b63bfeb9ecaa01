/** The fields of `plan-sync --json` that tests read. Counts as a test file without being one. */
export interface PlanJson {
  readonly finalBlocks: number;
  readonly tipBlocks: number;
  readonly rangeBlocks: number;
  readonly verification: { readonly mode: string };
  readonly calls: Record<string, number>;
  readonly units: Record<string, number>;
  readonly secondsAtRateSeen: number;
  readonly isBoundByBudget: boolean;
  readonly survey:
    { readonly events: number; readonly counted: number; readonly blocks: number } | undefined;
}
