import { type Check } from '../check.js';
import { type ReadDoctorSettings } from '../doctor.settings.js';
import { fault, notChecked, ok } from '../finding.js';

const NAME = 'settings';

/** The settings that services share; never a value. */
export function settingsCheck({ faults, given }: ReadDoctorSettings): Check {
  return {
    name: NAME,
    needs: [],
    *look() {
      for (const [variable, expected] of faults) {
        yield fault(NAME, `${variable} ${expected}`, `Correct ${variable}.`);
      }
      if (given === 0) {
        yield notChecked(NAME, 'none of them is set, and no stack runs in this clone');
      } else if (faults.size === 0) {
        yield ok(NAME, `${given} of those that services share are set, and usable`);
      }
    },
  };
}
