/** The short forms of the benchmarks that the gate runs, and the marks that each reports. */
export const GATED = [
  {
    bench: 'backfill',
    args: ['--events', '100000,400000', '--runs', '3'],
    marks: ['backfill'],
  },
  {
    bench: 'days',
    args: ['--wallets', '100000', '--changed', '5000', '--runs', '3', '--only', 'sealing'],
    marks: ['seal-all', 'seal-changed'],
  },
  {
    bench: 'api',
    args: [
      ...['--changes', '20000', '--connections', '16', '--runs', '3', '--seconds', '2'],
      ...['--redis', 'no'],
    ],
    marks: ['api-cached', 'api-all-wallets'],
  },
  {
    bench: 'redemptions',
    args: ['--redemptions', '400', '--bare-seconds', '1', '--runs', '3'],
    marks: ['redemptions'],
  },
] as const;

export const MARKS: readonly string[] = GATED.flatMap(({ marks }) => marks);
