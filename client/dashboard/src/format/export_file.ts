// An export file of a ledger, byte for byte as `epsctl ledger export` writes it: `epsledgerd ledger
// verify` replays it without trusting the server that sent it.

import type { AuditEntry, LedgerHead } from '../api/messages';
import { hexOf } from './hashes';

export function exportHeader(rootBudget: string): string {
  return `{"epsledgerExport":1,"rootBudget":"${rootBudget}"}\n`;
}

export function exportRow(entry: AuditEntry): string {
  return `{"sequence":${entry.sequence ?? '0'},"hash":"${hexOf(entry.hash)}","content":"${hexOf(entry.content)}"}\n`;
}

export function exportTrailer(head: LedgerHead): string {
  return `{"entryCount":${head.sequence ?? '0'},"hash":"${hexOf(head.hash)}","merkleRoot":"${hexOf(head.merkleRoot)}"}\n`;
}
