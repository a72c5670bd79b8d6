// Fetches files as an operator does: asks the daemon for a new link, then downloads the file.
import { setTimeout as sleep } from 'node:timers/promises';
import { pass, type Story } from './story.js';

const TRIES = 40;
const POLL_MS = 250;
/** The MoR needs some seconds to make a file. The demo advances the virtual clock by this time. */
const WAIT_SEC = 5;

/** Requests `path` until the reply has a link, then downloads it. Throws if no file appears. */
export async function fetchDocument(story: Story, path: string): Promise<void> {
  const { api } = story.world;
  for (let i = 0; i < TRIES; i++) {
    const reply = await api.get(path);
    const url = reply.textOrNull('url');
    if (url !== null) {
      await download(url);
      story.tally.documents += 1;
      return;
    }
    await pass(story.world, WAIT_SEC);
    await sleep(POLL_MS);
  }
  throw new Error(`GET ${path}: no file was made`);
}

/** Throws if the link does not lead to a file. */
export async function download(url: string): Promise<void> {
  const file = await fetch(url);
  await file.arrayBuffer();
  if (!file.ok) throw new Error(`the link to a file leads nowhere: ${file.status}`);
}
