export * from './describe-api.js';
export { previewApp } from './preview-app.js';
export * from './serve-docs.js';
