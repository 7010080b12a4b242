import type { Bytes } from '../api/messages';

/** Base64 as lower-case hexadecimal digits, which is how the project's tools print hashes. */
export function hexOf(bytes: Bytes | undefined): string {
  if (bytes === undefined || bytes === '') return '';
  try {
    return Array.from(atob(bytes), (one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join(
      '',
    );
  } catch {
    return '';
  }
}
