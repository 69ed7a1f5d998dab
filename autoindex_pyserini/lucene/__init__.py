"""The fixed retriever: the JVM, Lucene indexes and search. The only room that imports jnius or pyserini."""
