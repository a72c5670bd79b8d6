// Tests of the databases for tests.
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase, migratedTemplate } from './database.js';

describe('the databases of tests', () => {
  it('two test databases share no table, and each drop removes its database', async () => {
    const [first, second] = await Promise.all([freshDatabase(), freshDatabase()]);
    const a = new pg.Client({ connectionString: first.url });
    const b = new pg.Client({ connectionString: second.url });
    await Promise.all([a.connect(), b.connect()]);
    await a.query('create table only_here (id int)');
    await expect(b.query('select * from only_here')).rejects.toThrow('does not exist');
    await Promise.all([a.end(), b.end()]);
    await Promise.all([first.drop(), second.drop()]);
    await expect(new pg.Client({ connectionString: first.url }).connect()).rejects.toThrow('does not exist');
  });

  it('four simultaneous callers get one migrated template database, with a single run of the migrations', async () => {
    let runs = 0;
    const version = `test ${process.pid} ${Math.random()}`;
    const migrate = async (): Promise<void> => void (runs += 1);
    const names = await Promise.all([1, 2, 3, 4].map(async () => migratedTemplate(version, migrate)));
    expect(new Set(names).size).toBe(1);
    expect(runs).toBe(1);
  });
});
