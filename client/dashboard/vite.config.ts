import { defineConfig } from 'vite';

// The server behind `npm run develop`: its HTTP listener.
const server = process.env['EPSLEDGER_HTTP'] ?? 'http://127.0.0.1:8080';
const served = ['/v1', '/epsledger.v1.', '/metrics', '/healthz', '/readyz', '/openapi.json'];

export default defineConfig({
  // Names of assets contain a hash of their content: the server lets browsers keep them for ever.
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    target: 'es2022',
    // Nothing is inlined: no data URLs, and no script in the page. See the policy in README.md.
    assetsInlineLimit: 0,
    // Two kilobytes smaller than with esbuild's.
    minify: 'terser',
    terserOptions: { module: true, ecma: 2020, compress: { passes: 2, pure_getters: true, inline: 1 } },
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      served.map((path) => [path, { target: server, changeOrigin: false }]),
    ),
  },
});
