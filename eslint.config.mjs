import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** The rules that apply to the services and to the pages. */
const common = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/restrict-template-expressions': [
    'error',
    { allowNumber: true, allowBoolean: true },
  ],
  'no-empty': ['error', { allowEmptyCatch: false }],
};

const restricted = {
  'no-restricted-syntax': [
    'error',
    {
      selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
      message: 'Read the time from the Clock of #libs/platform.',
    },
    {
      selector: "NewExpression[callee.name='Date'][arguments.length=0]",
      message: 'Read the time from the Clock of #libs/platform.',
    },
    {
      selector: "MemberExpression[object.name='process'][property.name='env']",
      message: 'Settings are read by #libs/config only.',
    },
    {
      selector: "ImportSpecifier[imported.name='IsOptional']",
      message: 'It lets null pass. Use MayBeAbsent of #libs/service.',
    },
    {
      selector: "CallExpression[callee.name='PartialType'][arguments.length=1]",
      message: 'It lets null pass without { skipNullProperties: false }.',
    },
    {
      // Constructors and factories that the dependency injection container calls may take any number of parameters.
      selector:
        ":not(MethodDefinition[kind='constructor'], Property[key.name='useFactory']) > :function[params.length>4]",
      message:
        'More than four parameters become one object; a constructor alone takes all its collaborators.',
    },
  ],
};

export default tseslint.config(
  { ignores: ['**/dist/**', '.data/**', 'node_modules/**', '**/*.generated.ts'] },
  // Imports the published SDK; test/partner-docs/page-code.e2e-spec.ts compiles it.
  { ignores: ['docs/partners/examples/partner.ts'] },
  {
    files: ['**/*.ts'],
    ignores: ['apps/web/src/**'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...common,
      // The whole content of Nest modules and DTOs is in their decorators.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Nest takes its options as object literals for classes that it declares.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      ...restricted,
    },
  },
  {
    // Code for the browser reads the browser's clock and follows React's rules.
    files: ['apps/web/src/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: { project: './apps/web/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...common,
      // Allows the usual form of React handlers: `onClick={() => setIsOpen(true)}`.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    files: [
      '**/*.spec.ts',
      '**/*-spec.ts',
      '**/*.support.ts',
      'test/**/*.ts',
      'apps/*/test/**/*.ts',
      'bench/**/*.ts',
      'libs/testing/**/*.ts',
    ],
    rules: {
      'no-restricted-syntax': 'off',
      'max-params': ['error', 4],
      // Nest's test modules and supertest return untyped values.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  {
    files: [
      'libs/platform/src/clock.ts',
      'libs/partner-sdk/src/clock.ts',
      'libs/config/src/**/*.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
