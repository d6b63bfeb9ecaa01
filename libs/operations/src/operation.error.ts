import { PermanentError } from '#libs/domain';
import { type FieldSpec, optionName } from './operation/field.js';

/** Names a field: the command line by its option, a page by its label. */
type NameOf = (field: FieldSpec) => string;

/** The options of an operation are wrong or do not fit together. The message never contains a secret. */
export class OptionError extends PermanentError {
  /** The message with the labels of fields in the place of their options. */
  readonly onPages: string;

  /**
   * @param text a function if it names fields
   * @param field the name of the field that is wrong, if it is one
   */
  constructor(
    text: string | ((nameOf: NameOf) => string),
    readonly field?: string,
  ) {
    const naming = typeof text === 'string' ? () => text : text;
    super('OPTION_INVALID', naming(optionName));
    this.onPages = naming(({ label = '' }) => `“${label}”`);
  }
}
