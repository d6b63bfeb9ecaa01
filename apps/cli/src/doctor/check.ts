import { type Finding } from './finding.js';
import { type Variable } from './doctor.settings.js';
import { type Subject } from './subject.js';

/** One thing that the doctor looks at. */
export interface Check {
  readonly name: string;
  /** Without one of these it is not made. */
  readonly needs: readonly Variable[];
  /** It is made only where the database can be opened. */
  readonly needsDatabase?: true;
  /** It is made only where the migrations were applied, be it by an older program. */
  readonly needsSchema?: true;
  /** It is made only where an endpoint of the right chain answers. */
  readonly needsChain?: true;
  /** What was found so far counts also where the check then fails or takes too long. */
  look(subject: Subject): AsyncIterable<Finding> | Iterable<Finding>;
}
