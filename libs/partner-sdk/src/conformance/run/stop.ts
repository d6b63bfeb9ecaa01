/** Ways in which a story ends before its end. */

/** Something else is wrong, which another check says; what comes after cannot be judged. */
export class Blocked extends Error {
  override readonly name = 'Blocked';
}

/** The run is over: no new call is begun. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}
