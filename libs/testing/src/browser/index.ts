export { excessWidth, graveFaults } from './grave-faults.js';
export { PAGE_PATIENCE_MS, startBrowser } from './start-browser.js';
