/**
 * Changes of the sentences in errors and messages do not count: a test asserts their code, and a page or a log shows the
 * sentence to people. A text without a space is a code or a name, which counts.
 */

const isNamedError = (name) => name?.type === 'Identifier' && /Error$/.test(name.name);

/** `new SomeError(…)`, or `super(…)` of a class of errors. */
const isError = (path) =>
  (path.isNewExpression() && isNamedError(path.node.callee)) ||
  (path.isCallExpression() &&
    path.node.callee.type === 'Super' &&
    isNamedError(path.findParent((parent) => parent.isClass())?.node.id));

/** `message: '…'`. */
const isMessage = (path) =>
  path.isObjectProperty() &&
  path.node.key.type === 'Identifier' &&
  path.node.key.name === 'message';

const textOf = ({ type, value, quasis }) => {
  if (type === 'StringLiteral') return value;
  return type === 'TemplateLiteral' ? quasis.map(({ value: { raw } }) => raw).join('') : '';
};

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'error-texts',
    value: {
      shouldIgnore: (path) =>
        textOf(path.node).includes(' ') &&
        path.findParent((parent) => isError(parent) || isMessage(parent)) !== null
          ? 'a sentence for people'
          : undefined,
    },
  },
];
