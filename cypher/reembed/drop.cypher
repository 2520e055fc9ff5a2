// Drop the index of the old model's vectors. It waits for every transaction that has written one.
DROP INDEX memoryEmbedding IF EXISTS
