/** Maps a refusal that names a field of the request or an option of the command line to a form's field and label. */

interface Refused<Field extends string> {
  /** The field that the refusal is about; undefined where it is about none or several. */
  readonly field: Field | undefined;
  readonly message: string;
}

/** Fields by the options of the commands whose names differ. */
const OPTIONS: Readonly<Record<string, string>> = {
  '--callback-url': 'url',
  '--callback-key': 'key',
  '--callback-secret': 'secret',
};

/** @param labels of the form's fields, by their names in the request */
export function namedField<Field extends string>(
  message: string,
  labels: Readonly<Record<Field, string>>,
): Refused<Field> {
  const known = (name: string): name is Field => Object.hasOwn(labels, name);
  const [first = ''] = /^[A-Za-z.]+/.exec(message) ?? [];
  const name = first.split('.').at(-1) ?? '';
  const field = known(name) ? name : undefined;
  const begun = field === undefined ? message : `${labels[field]}:${message.slice(first.length)}`;
  const labelled = begun.replaceAll(/--[a-z][a-z-]*[a-z]/g, (option) => {
    const of = OPTIONS[option] ?? camelOf(option);
    return known(of) ? `“${labels[of]}”` : option;
  });
  return { field, message: labelled };
}

/** Converts `--bonus-from` to `bonusFrom`. */
function camelOf(option: string): string {
  return option.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
