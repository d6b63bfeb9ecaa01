import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** What the code of the services and that of the pages have in common. */
const common = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/restrict-template-expressions': [
    'error',
    { allowNumber: true, allowBoolean: true },
  ],
  'no-empty': ['error', { allowEmptyCatch: false }],
  'max-lines': ['error', { max: 300 }],
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
      // What the container calls takes whatever it needs of it.
      selector:
        ":not(MethodDefinition[kind='constructor'], Property[key.name='useFactory']) > :function[params.length>4]",
      message:
        'More than four parameters become one object; a constructor alone takes all its collaborators.',
    },
  ],
};

export default tseslint.config(
  { ignores: ['**/dist/**', '.data/**', 'node_modules/**', '**/*.generated.ts'] },
  {
    files: ['**/*.ts'],
    ignores: ['apps/web/src/**'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...common,
      // Nest modules and DTOs are classes whose whole meaning is in their decorators.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Nest takes its options as literals of classes it declares.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      ...restricted,
    },
  },
  {
    // In a browser: its own clock, and React's rules.
    files: ['apps/web/src/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: { project: './apps/web/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...common,
      // As React has its handlers: `onClick={() => setIsOpen(true)}`.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    files: [
      '**/*.spec.ts',
      '**/*-spec.ts',
      'test/**/*.ts',
      'apps/*/test/**/*.ts',
      'bench/**/*.ts',
      'libs/testing/**/*.ts',
    ],
    rules: {
      'no-restricted-syntax': 'off',
      'max-params': ['error', 4],
      // Nest's test modules and supertest hand out untyped values.
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
