// Exact names are looked up through entities now.
DROP INDEX memoryNames IF EXISTS
