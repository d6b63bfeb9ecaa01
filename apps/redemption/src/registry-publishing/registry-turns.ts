/** The stake sets of a process are looked at one after the other: they share an account, and its next nonce. */
export class RegistryTurns {
  private last: Promise<unknown> = Promise.resolve();

  /** Does the work when what came before has ended, however it ended. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
