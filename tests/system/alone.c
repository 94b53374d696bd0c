/* A program without libraries: the whole of an image that has no other file. `alone OUT TEXT...` writes texts to a file, a line each, and
 * then waits; without a word it does nothing. */
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count < 2)
        return 0;
    FILE *out = fopen(words[1], "w");
    if (!out)
        return 1;
    for (int number = 2; number < count; number++)
        fprintf(out, "%s\n", words[number]);
    fclose(out);
    while (1)
        pause();
}
