const PASSED = Symbol('the time has passed');

/**
 * What the work gives, or what `late` gives where it takes longer. The work goes on then, and what becomes of it is not told.
 * @throws what the work throws in time, and what `late` throws
 */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<typeof PASSED>((resolve) => {
    timer = setTimeout(resolve, ms, PASSED);
  });
  try {
    const first = await Promise.race([work, passed]);
    return first === PASSED ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}
